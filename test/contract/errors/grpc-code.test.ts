import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { GrpcCode } from '../../../src/contract/errors/grpc-code.js';

it('status codes have the names and numbers that they have in Connect', () => {
  expect(Code).toMatchObject(GrpcCode);
});
