import { nullable, oneOf } from '../contract/input/fields.js';

/** The member of a configuration that says whether texts are normalised before they are looked at; nothing or `nfkc`. */
export function normalization() {
  return nullable(oneOf(['nfkc'])).meta({
    description:
      'With nfkc, texts are brought into the Unicode form NFKC before they are looked at, and characters that are not ' +
      'seen (Default_Ignorable_Code_Point: zero-width ones, marks of direction, soft hyphens, tags …) are left out. ' +
      'Default: texts are looked at as they are.',
  });
}
