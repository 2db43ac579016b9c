import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { NAMESPACE_NAME } from '../../contract/call/namespace.js';
import {
  boolean,
  field,
  nullable,
  readWith,
  refuse,
  refuseTyped,
  shownText,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { textPage } from '../../contract/input/paging.js';
import { isStorable } from '../../storage/database/text.js';

const NAME_RULE =
  'must have 1 to 63 characters: lower-case letters, digits and "-", with a letter or digit at both ends';
const limits = LIMITS.CreateNamespaceRequest;

/** The name of a namespace that is to exist. */
export function namespaceName(): z.ZodType<string> {
  return field((value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    if (!NAMESPACE_NAME.test(value)) return refuseTyped(sink, 'string_pattern_mismatch', NAME_RULE, value);
    return value;
  }, shownText(limits.name));
}

const shown = text({ ...limits.display_name, trim: true });

/** A name as it is shown: surrounding blanks removed. */
const displayName = field<string>((value, sink) => {
  const read = readWith(shown, value, sink);
  if (read === undefined) return z.NEVER;
  const rule = 'must not have a NUL character or half of a surrogate pair';
  return isStorable(read) ? read : refuse(sink, 'value_error', rule, value);
}, shownText(limits.display_name));

/** A name in a path: any text; one that is no name is not found. */
const namespace = text();
const ofNamespace = z.object({ namespace });

/** Input schemas of NamespaceService, by RPC. Members are in the order of the messages. */
export const namespaceSchemas = {
  createNamespace: withExample(z.object({ name: namespaceName(), display_name: nullable(displayName) }), {
    name: 'payments',
    display_name: 'Payments',
  }),
  listNamespaces: z.object(textPage),
  getNamespace: ofNamespace,
  updateNamespace: withExample(z.object({ namespace, display_name: displayName }), {
    display_name: 'Payments',
  }),
  exportNamespace: withExample(ofNamespace, {}),
  deleteNamespace: z.object({ namespace, force: withDefault(boolean(), false) }),
};
