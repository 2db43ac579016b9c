/**
 * How many generated cases a property is checked with in every run: a third of them, or another part, which are the same each
 * time. All of them with PROPERTY_SEED, which `npm run verify:long -- properties` sets.
 */
export const generatedCases = (cases: number, part = 1 / 3): number =>
  process.env.PROPERTY_SEED === undefined ? Math.ceil(cases * part) : cases;
