import type { DescService } from '@bufbuild/protobuf';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { handler } from '../../../src/contract/call/handler.js';
import { list, nullable, oneOf, text } from '../../../src/contract/input/fields.js';
import { integer } from '../../../src/contract/input/numbers.js';
import { startHost, type TestHost } from '../../support/host.js';
import { type OpenApiDocument, readOpenApi } from '../../support/openapi-document.js';
import { compileProto } from '../../support/scratch-api.js';

const SCRATCH = `
syntax = "proto3";
package scratch.v1;
import "enforcement/v1/options.proto";
import "google/api/annotations.proto";

service LibraryService {
  rpc AddBook(AddBookRequest) returns (AddBookResponse) {
    option (google.api.http) = {
      put: "/api/v1/shelves/{shelf}/books"
      body: "*"
      additional_bindings {post: "/books" body: "*"}
    };
    option (enforcement.v1.access) = ACCESS_ADMIN;
    option (enforcement.v1.scopes) = "controls.write";
    option (enforcement.v1.operation) = "catalogue.add_book";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
    option (enforcement.v1.success_status) = 202;
    option (enforcement.v1.nulls) = NULL_RULE_OMIT;
  }
  rpc FindBooks(FindBooksRequest) returns (FindBooksResponse) {
    option deprecated = true;
    option (google.api.http) = {get: "/api/v1/books" response_body: "books"};
    option (enforcement.v1.access) = ACCESS_PUBLIC;
    option (enforcement.v1.scopes) = "server.read";
    option (enforcement.v1.operation) = "catalogue.find_books";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
  }
}
enum Cover {
  COVER_UNSPECIFIED = 0;
  COVER_HARD_BACK = 1;
  COVER_SOFT = 2;
}
message AddBookRequest {
  string shelf = 1;
  string title = 2;
  Cover cover = 3;
  repeated string labels = 4;
}
message AddBookResponse {
  Book book = 1;
  optional string remark = 2;
}
message FindBooksRequest {
  optional int32 limit = 1;
  optional string after = 2;
}
message FindBooksResponse {
  map<string, Book> books = 1;
}
message Book {
  string title = 1;
  Cover cover = 2;
  optional double weight = 3;
}`;

const HANDLERS = {
  addBook: handler(
    z.object({
      shelf: text({ min: 2 }),
      title: text({ min: 1, max: 9 }),
      cover: oneOf(['hard_back', 'soft']),
      labels: nullable(list(text())),
    }),
    () => ({ book: null, remark: null }),
  ),
  findBooks: handler(z.object({ limit: nullable(integer({ max: 5 })), after: nullable(integer()) }), () => ({
    books: {},
  })),
};

describe('the document of an RPC that is in a proto file and has a handler', () => {
  let host: TestHost;
  let document: OpenApiDocument;
  beforeAll(async () => {
    const registry = await compileProto({ 'scratch/v1/library.proto': SCRATCH });
    host = await startHost(registry.getService('scratch.v1.LibraryService') as DescService, HANDLERS);
    document = await readOpenApi(host.url);
  });
  afterAll(() => host.stop());

  it('is valid', async () => {
    expect(await new Validator().validate(structuredClone(document) as never)).toEqual({ valid: true });
  });

  it('has an operation for every binding, with the members that its path leaves to the body', () => {
    const put = document.paths['/api/v1/shelves/{shelf}/books']?.put;
    expect(put).toMatchObject({
      operationId: 'addBook',
      summary: 'Add book',
      'x-rpc': 'scratch.v1.LibraryService/AddBook',
      'x-access': 'admin',
      parameters: [{ name: 'shelf', in: 'path', required: true, schema: { type: 'string', minLength: 2 } }],
      requestBody: {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/AddBookRequest' } } },
      },
    });
    const members = {
      title: { type: 'string', minLength: 1, maxLength: 9 },
      cover: { type: 'string', enum: ['hard_back', 'soft'] },
      labels: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
    };
    expect(document.components.schemas.AddBookRequest).toEqual({
      type: 'object',
      properties: members,
      required: ['title', 'cover'],
    });
    expect(document.paths['/books']?.post).toMatchObject({
      operationId: 'addBook2',
      requestBody: {
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: { shelf: { type: 'string', minLength: 2 }, ...members },
              required: ['shelf', 'title', 'cover'],
            },
          },
        },
      },
    });
  });

  it('has the status, the failures and the null rule that the options specify', () => {
    const { responses, security } = document.paths['/books']?.post ?? { responses: {}, security: [] };
    expect(Object.keys(responses)).toEqual([
      '202',
      '400',
      '401',
      '403',
      '409',
      '413',
      '422',
      '429',
      '503',
      '504',
      'default',
    ]);
    expect(security).toEqual([{ apiKey: [] }, { bearer: [] }, { session: [] }]);
    const { schemas } = document.components;
    expect(schemas.AddBookResponseWithoutNulls).toEqual({
      type: 'object',
      properties: { book: { $ref: '#/components/schemas/BookWithoutNulls' }, remark: { type: 'string' } },
      required: ['book'],
    });
    expect(schemas.Book).toEqual({
      type: 'object',
      properties: {
        title: { type: 'string' },
        cover: { type: 'string', enum: ['hard_back', 'soft'] },
        weight: { type: ['number', 'null'] },
      },
      required: ['title', 'cover', 'weight'],
    });
  });

  it('has query parameters, and the member that is the whole reply', () => {
    const find = document.paths['/api/v1/books']?.get;
    expect(find).toMatchObject({
      deprecated: true,
      security: [],
      parameters: [
        { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 5 } },
        {
          name: 'after',
          in: 'query',
          required: false,
          schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
        },
      ],
    });
    expect(Object.keys(find?.responses ?? {})).toEqual(['200', '422', '429', '503', '504', 'default']);
    expect(find?.responses['200']?.content?.['application/json'].schema).toEqual({
      type: 'object',
      additionalProperties: { $ref: '#/components/schemas/Book' },
    });
  });
});
