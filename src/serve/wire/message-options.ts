import { createRegistry } from '@bufbuild/protobuf';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { MESSAGE_RECURSION_LIMIT } from './free-form-mapper.js';

/** Messages used as status details. */
const DETAIL_TYPES = createRegistry(ErrorInfoSchema, BadRequestSchema, RetryInfoSchema);

/** How protobuf-es reads and writes messages, wherever it does. */
export const MESSAGE_OPTIONS = {
  binaryOptions: { recursionLimit: MESSAGE_RECURSION_LIMIT },
  // A status inside a reply carries its details as Any, whose JSON form requires their types.
  jsonOptions: { recursionLimit: MESSAGE_RECURSION_LIMIT, registry: DETAIL_TYPES },
};
