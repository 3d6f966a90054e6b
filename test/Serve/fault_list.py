"""The planted faults of a server that makes several texts at once: (what is wrong, source, right, wrong)."""

SLOTS, SCHEDULER = "runtime/Serve/Slots.cpp", "runtime/Serve/Scheduler.cpp"

FAULTS = [
    ("a row begins one position too late", SLOTS, "value.name == kSlot ? rows[row].slot : rows[row].start",
     "value.name == kSlot ? rows[row].slot : rows[row].start + 1"),
    ("positions begin one too late", SLOTS, "return double(row.start + column);", "return double(row.start + column + 1);"),
    ("rows have the slot of the first", SLOTS, "value.name == kSlot ? rows[row].slot", "value.name == kSlot ? rows[0].slot"),
    ("all rows of a piece stand where it begins", SLOTS, "{piece.slot, held + at, piece.ids + at}", "{piece.slot, held, piece.ids + at}"),
    ("all rows of a piece have its first token", SLOTS, "{piece.slot, held + at, piece.ids + at}", "{piece.slot, held + at, piece.ids}"),
    ("logits of the first row of a piece", SLOTS, "asked.push_back(int64_t(rows.size()) - 1);", "asked.push_back(int64_t(rows.size()) - piece.count / each);"),
    ("a beginning is copied one block short", SLOTS, "(length + state.blockPositions - 1) / state.blockPositions * state.blockBytes",
     "(length + state.blockPositions - 1) / state.blockPositions * state.blockBytes - state.blockBytes"),
    ("one part of a beginning is copied", SLOTS, "parts = uint64_t(state.parts);", "parts = 1;"),
    ("states of one repeat are copied", SLOTS, "group < uint64_t(state.groups);", "group < 1;"),
    ("a slot that was copied to keeps its text", SLOTS, "texts[size_t(to)].assign(text(from).begin(), text(from).begin() + length);", "texts[size_t(to)].resize(size_t(length));"),
    ("a ring that has turned goes back", SLOTS, "return length == held || !turned ? length : 0;", "return length;"),
    ("logits of the row before", SCHEDULER, "slots.logitsOf(status.ok() ? i : 0)", "slots.logitsOf(status.ok() && i ? i - 1 : 0)"),
    ("a prompt that is known is not read again for its logits", SCHEDULER, "std::min(ids.size() - 1, held.size())", "std::min(ids.size(), held.size())"),
    ("a beginning ends one token late", SCHEDULER, "held.begin()).first - ids.begin();", "held.begin()).first - ids.begin() + (most > 8);"),
    ("the first token is chosen after a piece", SCHEDULER, "if (piece.asked)", "if (piece.asked || piece.count == kShortPiece)"),
    ("a text gets a slot that is in use", SCHEDULER, "if (holderOf(slot))\n      continue;", ""),
    ("rules see the new tokens alone", SCHEDULER, "service.model->card().roles, 0, ids);", "service.model->card().roles, 0, {});"),
    ("a text goes on behind its last token", SCHEDULER, "if (goesOn && !one.chooser.done())", "if (goesOn)"),
    ("a text of company ends the others", SCHEDULER, "one.over = true;\n  lastUsed", "running.front()->over = one.over = true;\n  lastUsed"),
]
