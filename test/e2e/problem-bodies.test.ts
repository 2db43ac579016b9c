import { describe, expect, it } from 'vitest';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;

describe('problem bodies', () => {
  const service = suiteService();
  const { call } = service;

  it('of a missing resource have their members in order, and JSON as media type', async () => {
    const reply = await call('GET', '/api/v1/controls/91?x=1');
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.entries(reply.body)).toEqual([
      ['type', 'urn:control-enforcement:error:control-not-found'],
      ['title', 'Control Not Found'],
      ['status', 404],
      ['detail', expect.any(String)],
      ['instance', '/api/v1/controls/91'],
      ['error_code', 'CONTROL_NOT_FOUND'],
      ['kind', 'Status'],
      ['api_version', 'v1'],
      ['reason', 'NotFound'],
      ['metadata', { timestamp: expect.stringMatching(TIMESTAMP) }],
      ['details', { name: '91', kind: 'Control' }],
      ['hint', expect.any(String)],
    ]);
  });

  it('of a malformed request have items and no details; texts in them are redacted', async () => {
    const secret = 'secret-4711';
    const reply = await call('PUT', '/api/v1/controls', {
      name: `${secret} ${secret}`,
      data: { ...denyWord('x'), execution: secret, enabled: 7, tags: [secret, null] },
    });
    expect(reply.status).toBe(422);
    expect(Object.keys(reply.body)).toEqual([
      'type',
      'title',
      'status',
      'detail',
      'instance',
      'error_code',
      'kind',
      'api_version',
      'reason',
      'metadata',
      'errors',
      'hint',
    ]);
    expect(reply.body).toMatchObject({
      title: 'Validation Error',
      reason: 'UnprocessableEntity',
      detail: expect.stringContaining('4'),
    });
    const message = expect.any(String);
    expect(reply.body.errors).toEqual([
      {
        resource: 'Request',
        field: 'name',
        code: 'string_pattern_mismatch',
        message,
        value: '[REDACTED]',
      },
      { resource: 'Control', field: 'data.enabled', code: 'bool_parsing', message, value: 7 },
      { resource: 'Control', field: 'data.execution', code: 'literal_error', message, value: '[REDACTED]' },
      { resource: 'Control', field: 'data.tags[1]', code: 'string_type', message },
    ]);
    expect(JSON.stringify(reply.body)).not.toContain(secret);
  });

  it('name the path as it was sent, percent-decoded', async () => {
    const reply = await call('GET', '/api/v1/agents/two%20words%2Fx?limit=1');
    expect(reply.body.instance).toBe('/api/v1/agents/two words/x');
  });

  it.each([
    ['a broken body', '{"name": "x",}', { resource: 'Request', code: 'json_invalid', field: '[13]' }],
    ['blanks alone', '   ', { resource: 'Request', code: 'json_invalid' }],
    ['text behind the value', '{} x', { resource: 'Request', code: 'json_invalid' }],
    ['null', 'null', { resource: 'Request', code: 'missing' }],
    ['a list', '[]', { resource: 'Request', code: 'model_attributes_type', value: '[REDACTED]' }],
    ['a number', '5', { resource: 'Request', code: 'model_attributes_type', value: 5 }],
    ['an empty body', '', { resource: 'Request', code: 'missing' }],
  ])('distinguish %s from others', async (_what, body, item) => {
    for (const [method, path] of [
      ['PUT', '/api/v1/controls'],
      ['POST', '/api/v1/agents/initAgent'],
      ['POST', '/api/v1/evaluation'],
      ['PATCH', '/api/v1/controls/1'],
    ] as const) {
      const reply = await call(method, path, body);
      expect(reply).toMatchObject({ status: 422, body: { error_code: 'VALIDATION_ERROR' } });
      expect(reply.body.errors).toMatchObject([item]);
      if (!('field' in item) && item.code !== 'json_invalid') {
        expect(reply.body.errors[0]).not.toHaveProperty('field');
      }
    }
  });

  it('refuse a JSON body that is sent as something else', async () => {
    const body = JSON.stringify({ data: denyWord('x') });
    const reply = await call('POST', '/api/v1/controls/validate', body, { 'content-type': 'text/plain' });
    expect(reply.status).toBe(422);
    expect(reply.body.errors).toMatchObject([{ code: 'model_attributes_type' }]);
    for (const type of ['application/json; charset=x', 'application/vnd.x+json', 'APPLICATION/JSON']) {
      const accepted = await call('POST', '/api/v1/controls/validate', body, { 'content-type': type });
      expect(accepted.status).toBe(200);
    }
  });

  it('never come for a broken body of a route that takes none', async () => {
    await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: 'bodyless-agent' } });
    const { control_id: id } = (
      await call('PUT', '/api/v1/controls', { name: 'bodyless', data: denyWord('x') })
    ).body;
    const link = `/api/v1/agents/bodyless-agent/controls/${id}`;
    expect((await call('POST', link, '{"broken')).status).toBe(200);
    expect((await call('DELETE', link, '{"broken')).status).toBe(200);
  });
});
