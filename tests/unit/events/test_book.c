/* The book of works (docs/explanation/method.md, Energy and the book).  If this fails, some kick is missing from the
 * book, entered twice, or survived a rollback; or the columns `work` and `dissipated` are not what scripts put in and
 * restitution took out. */
#include "support.h"

/* Sum of the works of all kicks = change of kinetic energy, to round-off, however the vertices are held. */
static void closes(const char *file, const struct settings *s)
{
    struct experiment e;
    begin(&e, file, s);
    const double step = e.scene->settings->frame_s;
    double worst = 0;
    for (int64_t k = 1; (double)(k - 1) * step < e.scene->settings->end_s; k++) {
        if (!run_to(&e, fmin((double)k * step, e.scene->settings->end_s)))
            break;
        worst = fmax(worst, tac_sim_book_residual(e.sim));
    }
    CHECK(worst <= 1e-12 && e.sim->books.book.absolute > 0, "%s: residual %.3g", file, worst);
    end(&e);
}

/* The defect of a scene whose only motion is smooth or scripted falls with the square of the periods: by 16 for a
 * quarter of the period, here at least by 10, and to nothing for periods near zero. */
static void second_order(const char *file, const char *path)
{
    double defect[3], absolute = 0;
    for (int k = 0; k < 3; k++) {
        struct experiment e;
        struct settings s = {.count = 0};
        const double h = ldexp(1, -8 - 2 * k);
        set(&s, "clocks.elastic_s=%.17g", h);
        set(&s, "clocks.gravity_s=%.17g", h);
        if (path)
            set(&s, "motions.0.path=%s", path);
        begin(&e, file, &s);
        defect[k] = largest_defect(&e, ldexp(1, -5));
        absolute = e.sim->books.book.absolute;
        end(&e);
    }
    CHECK(defect[0] > 10 * defect[1] && defect[1] > 10 * defect[2] && defect[2] < 1e-6 * absolute,
          "%s, path %s: defects %.3g %.3g %.3g J with periods 2^-8, 2^-10, 2^-12 s", file, path ? path : "of the scene",
          defect[0], defect[1], defect[2]);
}

/* What scripts put in and restitution took out: total - work + dissipated stays what it was, within `bound` of the
 * energy exchanged, while both are large. */
static void balance(const char *file, const struct settings *s, double bound, double least_work, double least_loss)
{
    struct experiment e;
    begin(&e, file, s);
    double defect = largest_defect(&e, ldexp(1, -8));
    double scale = fmax(e.start.total, fmax(fabs(e.row.work), e.row.dissipated));
    CHECK(defect <= bound * scale, "%s: defect %.3g of %.3g J", file, defect, scale);
    CHECK(fabs(e.row.work) >= least_work * scale && e.row.dissipated >= least_loss * scale,
          "%s: work %.3g, dissipated %.3g of %.3g J: too little to tell", file, e.row.work, e.row.dissipated, scale);
    end(&e);
}

/* Rows do not change what is entered: with or without one at the instant at which a vertex is caught or let go. */
static void rows_do_not_matter(const char *file)
{
    struct experiment few, many;
    begin(&few, file, NULL);
    begin(&many, file, NULL);
    largest_defect(&many, ldexp(1, -7));
    run_to(&few, few.scene->settings->end_s);
    CHECK(few.row.work == many.row.work && few.row.total == many.row.total && few.row.work != 0,
          "%s: work %.17g with one row, %.17g with many", file, few.row.work, many.row.work);
    end(&few);
    end(&many);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    static const char *const any[] = {
        "tests/unit/events/scenes/chain-dragged.json",
        "tests/unit/events/scenes/chain-caught.json",
        "tests/unit/events/scenes/two-shells.json",
        "tests/unit/events/scenes/spring-on-plane.json",
        "tests/unit/events/scenes/piston.json",
        "tests/system/equality/scenes/let-go.json",
        "tests/system/equality/scenes/turning-obstacle.json",
        "tests/system/equality/scenes/closing-walls.json",
        "tests/system/equality/scenes/free-clocks.json",
        "tests/system/equality/scenes/edge-onto-edge.json",
        "tests/system/equality/scenes/ball-between-walls.json",
        "tests/system/equality/scenes/crossing-ribbons.json",
        "tests/system/equality/scenes/pushed.json",
        "tests/system/equality/scenes/sail.json",
    };
    for (size_t k = 0; k < sizeof any / sizeof any[0]; k++)
        closes(any[k], NULL);
    second_order("tests/unit/events/scenes/chain-dragged.json", NULL);
    /* Caught and let go on ticks, between them, and one of each. */
    second_order("tests/unit/events/scenes/chain-caught.json", "[[0.5, [0, 0, 0]], [1, [0, 0.1, 0]]]");
    second_order("tests/unit/events/scenes/chain-caught.json", "[[0.50143, [0, 0, 0]], [1.00713, [0, 0.1, 0]]]");
    second_order("tests/unit/events/scenes/chain-caught.json", "[[0.5, [0, 0, 0]], [1.00713, [0.3, 0.1, 0]]]");
    second_order("tests/unit/events/scenes/chain-caught.json", "[[0.507143, [0, 0, 0]], [1, [0, 0.1, 0]]]");
    rows_do_not_matter("tests/unit/events/scenes/chain-caught.json");
    struct settings half = {.count = 0}, whole = {.count = 0};
    set(&half, "contact.restitution=0.5");
    set(&whole, "contact.restitution=1");
    balance("tests/unit/events/scenes/piston.json", &whole, 2e-3, .5, 0);
    balance("tests/unit/events/scenes/piston.json", &half, 2e-3, .1, .5);
    MPI_Finalize();
    return check_result();
}
