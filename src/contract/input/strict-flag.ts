import type { z } from 'zod';
import { boolean, nullable } from './fields.js';

/** Whether a request asks for strict mode; absent and null mean no. */
export function strictFlag(): z.ZodType<boolean> {
  return nullable(boolean()).transform((asked) => asked ?? false);
}
