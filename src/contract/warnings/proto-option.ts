import { type DescExtension, getOption, hasOption } from '@bufbuild/protobuf';

const values = new WeakMap<object, Map<DescExtension, unknown>>();

/**
 * The value of an option of a descriptor, or its default. As `getOption` of protobuf-es, which builds a message at every
 * call: that took a fifth of a start. Values are shared and must not be changed.
 */
export const optionOf: typeof getOption = (element, option) => {
  // Descriptors without the option share its default.
  const holder = hasOption(element, option) ? element : option;
  let known = values.get(holder);
  if (known === undefined) {
    known = new Map();
    values.set(holder, known);
  }
  if (!known.has(option)) known.set(option, getOption(element, option));
  return known.get(option) as ReturnType<typeof getOption<typeof option, typeof element>>;
};
