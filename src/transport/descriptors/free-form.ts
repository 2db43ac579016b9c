import type { DescMessage } from '@bufbuild/protobuf';

const FREE_FORM = new Set(['google.protobuf.Struct', 'google.protobuf.Value', 'google.protobuf.ListValue']);

/** Whether a message stands for any JSON. */
export function isFreeForm(desc: DescMessage): boolean {
  return FREE_FORM.has(desc.typeName);
}
