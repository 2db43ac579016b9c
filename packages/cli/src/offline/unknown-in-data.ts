import { ControlDefinitionSchema } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import { unknownMembers } from '../../../../src/contract/warnings/unknown-members.js';
import { type FileProblem, pathParts } from '../files/problems.js';
import type { PlacedDocument } from './placed-problems.js';

/** Members of the definition that it does not have, about which the service would only warn. */
export function unknownInData({ file, value, placeOf }: PlacedDocument): FileProblem[] {
  return [
    ...unknownMembers(ControlDefinitionSchema, value.data ?? null, { spelling: 'rest', path: 'data' }),
  ].map(({ field, message }) => ({ file, ...placeOf(pathParts(field)), message: `${field}: ${message}` }));
}
