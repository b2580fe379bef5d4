"""Deliberate faults: (name, what is wrong then, file, [(text, what takes its place), ...]). A text that is not there, or twice,
is an error: then the engine has changed, and the fault has to be put anew."""

MUTANTS = [
    ("missed-pair", "pairs of a vertex and a triangle are never found", "src/broadphase/candidates_pairs.c", [
        ("    if (wait > 1 || look->clear > first)\n", "    if (wait > 1 || look->clear > first || type == TAC_PAIR_VERTEX_TRIANGLE)\n")]),
    ("missed-layer", "the second layer of every layer stack exerts no force", "src/contact/model.c", [
        ("m->rate[l] = l ? tac_pow(", "m->rate[l] = l && l != 2 ? tac_pow(")]),
    ("eta", "layers begin 1 % farther out", "src/contact/model.c", [
        ("m->reach[l] = l ? tac_pow(", "m->reach[l] = l ? 1.01 * tac_pow(")]),
    ("dropped-message", "every eighth message of positions is thrown away", "src/events/ranks/ranks.c", [
        ("    const double *x = (const double *)(n->in + sizeof *h);\n    if (sim->ranks->halo.nested) {",
         "    const double *x = (const double *)(n->in + sizeof *h);\n    if (sim->ranks->halo.messages % 8 == 0)\n        return;\n    if (sim->ranks->halo.nested) {")]),
    ("undo-layer-group", "a layer group keeps the last distance of a pass that is rolled back", "src/events/windows/activate.c", [
        ("            c->group[i].last_d = c->group[i].saved_d;\n", "            (void)c->group[i].saved_d;\n")]),
    ("undo-friction", "friction keeps the budget of a pass that is taken back", "src/contact/friction.c", [
        ("        f->anchor[f->anchor_kept[k].anchor].now = f->anchor_kept[k].values;\n", "        (void)f->anchor_kept[k].values;\n")]),
    ("old-list", "a list of candidates is used after vertices have left their trajectory bounds", "src/events/windows/windows.c", [
        ("    if (end > c->end) {\n", "    if (c->builds > 0)\n        return true;\n    if (end > c->end) {\n")]),
    ("forgotten-repair", "a repaired list lacks the pairs of the vertices that left their trajectory bounds", "src/broadphase/candidates_repair.c", [
        ("    enter_found(c, count);\n", "    enter_found(c, 0);\n")]),
    ("half-repair", "a repair looks only for pairs within a body", "src/broadphase/candidates_search.c", [
        ("            if (c->tree[b]->count > 0 && !(both && b < a) &&", "            if (a == b && c->tree[b]->count > 0 && !(both && b < a) &&")]),
    ("late-activation", "a pair is activated only when its third layer is reached", "src/broadphase/candidates_search.c", [
        (".next = tac_single_above(pair->radius + pair->thickness),",
         ".next = tac_single_above(pair->radius + pair->thickness * listing->view->model->reach[3]),")]),
    ("ghost-late", "positions told to neighbours are one quantum old", "src/events/ranks/ranks.c", [
        ("tac_position(&sim->state, &sim->scripts, g->v[i], t, x + n * i);",
         "tac_position(&sim->state, &sim->scripts, g->v[i], t - 1, x + n * i);")]),
    ("straddling", "a pair of two ranks is a billionth stiffer on one of them", "src/events/windows/activate.c", [
        ("    p->next = tac_model_reach(sim->model, &p->form, 1);\n    for (int k = 0;",
         "    if (p->shared && sim->ctx->rank == 1)\n        p->form.stiffness *= 1 + 1e-9;\n"
         "    p->next = tac_model_reach(sim->model, &p->form, 1);\n    for (int k = 0;")]),
    ("restart-layer-group", "a restart forgets the last distances of layer groups", "src/events/state/state_restore.c", [
        ("        tac_active_set_last(sim, slot, last[k]);\n", "        tac_active_set_last(sim, slot, INFINITY);\n")]),
    ("late-slab", "kinetic structures: a slab is trusted for twice the time that it holds", "src/kds/slab_lay.c", [
        ("t = tac_slab_entry_s(k, s, i, x[i]);", "t = 2 * tac_slab_entry_s(k, s, i, x[i]);")]),
    ("kept-plan", "kinetic structures: who is kicked by a contact is taken to keep to its plan", "src/events/windows/kinetic_windows.c", [
        ("        tac_kinetic_check(k, sim->find.kicked[i]);\n", "        (void)sim->find.kicked[i];\n")]),
    ("crossing", "kinetic structures: what is beside a primitive of several ranks is taken to be proven", "src/broadphase/candidates_pairs.c", [
        ("if (search->c->crossing && a->inner && b->inner)", "if (search->c->crossing && (a->inner || b->inner))")]),
]
