// step.cpp: the same as step.c in C++: steps a scene and prints where its first vertex is.
//
//     step_cpp drop.json
#include <tactus/process.h>
#include <tactus/simulation.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

// What the library tells by codes, as exceptions.
class Failure : public std::runtime_error {
public:
    Failure(const tac_ctx &ctx, tac_err code) : std::runtime_error(ctx.error), code(code) {}
    tac_err code;
};

class Simulation {
public:
    Simulation(tac_ctx &ctx, const std::string &path) : ctx_(ctx)
    {
        tac_scene_source source = {};
        source.path = path.c_str();
        tac_simulation *made = nullptr;
        check(tac_simulation_create(&ctx_, &source, &made));
        sim_.reset(made);
    }
    void advance(double t_s) { check(tac_simulation_advance(sim_.get(), t_s)); }
    double time() const { return tac_simulation_time(sim_.get()); }
    tac_vectors positions()
    {
        tac_vectors x;
        check(tac_simulation_positions(sim_.get(), &x));
        return x;
    }

private:
    struct Destroy {
        void operator()(tac_simulation *sim) const { tac_simulation_destroy(&sim); }
    };
    void check(tac_err err) const
    {
        if (err != TAC_OK)
            throw Failure(ctx_, err);
    }
    tac_ctx &ctx_;
    std::unique_ptr<tac_simulation, Destroy> sim_;
};

// The position of vertex `id`, m; null: it is another rank's.
const double *find(const tac_vectors &x, tac_gid id)
{
    for (tac_lid i = 0; i < x.count; i++)
        if (x.id[i] == id)
            return reinterpret_cast<const double *>(reinterpret_cast<const char *>(x.data) + std::size_t(i) * x.stride);
    return nullptr;
}

void step(tac_ctx &ctx, const std::string &path)
{
    Simulation sim(ctx, path);
    for (int k = 0; k <= 6; k++) {
        sim.advance(k / 8.);
        const tac_vectors x = sim.positions();
        if (const double *at = find(x, 0))
            std::printf("%.3f s: %.17g %.17g %.17g\n", sim.time(), at[0], at[1], at[2]);
    }
}

} // namespace

int main(int argc, char **argv)
{
    tac_ctx ctx;
    bool started = false;
    tac_err err = tac_mpi_begin(&ctx, &started);
    try {
        if (err != TAC_OK)
            throw Failure(ctx, err);
        if (argc != 2)
            throw Failure(ctx, tac_fail(&ctx, TAC_ERR_INPUT, "usage: step_cpp SCENE"));
        step(ctx, argv[1]);
    } catch (const Failure &failure) {
        err = failure.code;
        if (ctx.rank == 0)
            std::fprintf(stderr, "step_cpp: %s\n", failure.what());
    }
    tac_mpi_end(started);
    return err;
}
