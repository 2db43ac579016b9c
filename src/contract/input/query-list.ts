import type { z } from 'zod';
import { field, jsonSchemaOf, list, nullable, readWith } from './fields.js';

/**
 * A list that may be sent in a query, where a parameter that occurs once is one text; an absent one is an empty list.
 */
export function queryList<T>(item: z.ZodType<T>, limits: { readonly max: number }): z.ZodType<T[]> {
  const whole = list(item, limits);
  const read = field<T[]>(
    (value, sink) => readWith(whole, typeof value === 'string' ? [value] : value, sink) ?? [],
    jsonSchemaOf(whole),
  );
  return nullable(read).transform((items) => items ?? []);
}
