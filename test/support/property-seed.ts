import fc from 'fast-check';

/**
 * Every run of the main suite checks the same cases, so that it fails for what changed and not by chance; new cases are
 * for `npm run verify:long -- properties`, which sets PROPERTY_SEED.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.PROPERTY_SEED ?? 20_261_125) });
