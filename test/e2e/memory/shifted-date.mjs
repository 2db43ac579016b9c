/** Sets the wall clock of a process off by SHIFT_MS, as that of a machine with a wrong clock. */
const shiftMs = Number(process.env.SHIFT_MS ?? 0);
const Real = Date;

globalThis.Date = class extends Real {
  constructor(...words) {
    if (words.length === 0) super(Real.now() + shiftMs);
    else super(...words);
  }
  static now() {
    return Real.now() + shiftMs;
  }
};
