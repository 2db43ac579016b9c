import { type JsonValue, parseStoredJson } from '../../packages/exact-json/src/index.js';
import type { ErrorItem } from '../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../contract/input/items.js';
import { inputItems } from '../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import { createPauses } from '../decisions/in-turns.js';
import { createDocumentSchema, type ReadDocument } from './document-schema.js';

/** A document of a message that another thread has read, as JSON text. */
export class DocumentText {
  constructor(readonly text: string) {}
}

/** Documents that could be read, each with its place in the request, and what is wrong with the others. */
export interface ReadDocuments {
  readonly documents: readonly (ReadDocument & { readonly index: number })[];
  readonly problems: readonly ErrorItem[];
}

/** Reads documents of requests in turns of the event loop: thousands of them take seconds. Rejects once `signal` is aborted. */
export function createDocumentReader(
  registry: EvaluatorRegistry,
): (values: readonly (JsonValue | DocumentText)[], signal?: AbortSignal) => Promise<ReadDocuments> {
  const schema = createDocumentSchema(registry);
  return async (values, signal) => {
    const documents: ReadDocuments['documents'][number][] = [];
    const problems: ErrorItem[] = [];
    const pause = createPauses(signal);
    for (const [index, value] of values.entries()) {
      const read = value instanceof DocumentText ? parseStoredJson(value.text) : value;
      const { value: document, items } = inputItems(schema, read);
      if (document !== undefined) documents.push({ ...document, index });
      const at = `documents[${index}]`;
      for (const item of items) {
        problems.push({ ...item, field: item.field === undefined ? at : `${at}.${item.field}` });
      }
      if (problems.length >= MAX_ERROR_ITEMS) break;
      await pause();
    }
    return { documents, problems };
  };
}
