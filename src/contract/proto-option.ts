import { type DescExtension, getOption, hasOption } from '@bufbuild/protobuf';

const values = new WeakMap<object, Map<DescExtension, unknown>>();
const defaults = new Map<DescExtension, unknown>();

/**
 * The value of an option of a descriptor, or its default. As `getOption` of protobuf-es, which builds a message at every
 * call: that took a fifth of a start. Values are shared and must not be changed.
 */
export const optionOf: typeof getOption = (element, option) => {
  if (!hasOption(element, option)) {
    if (!defaults.has(option)) defaults.set(option, getOption(element, option));
    return defaults.get(option) as ReturnType<typeof getOption<typeof option, typeof element>>;
  }
  let known = values.get(element);
  if (known === undefined) {
    known = new Map();
    values.set(element, known);
  }
  if (!known.has(option)) known.set(option, getOption(element, option));
  return known.get(option) as ReturnType<typeof getOption<typeof option, typeof element>>;
};
