import { beforeAll, describe, expect, it } from 'vitest';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

const PATH = '/api/v1/evaluation/batch';
const AGENT = 'batched-agent-1';

describe('a batch over the JSON route', () => {
  const service = suiteService({ SERVICE_MAX_BODY_BYTES: '1000000' });
  const { call, seed } = service;
  beforeAll(async () => {
    await seed.linked(AGENT, 'no-bad', denyWord('bad'));
  });

  const evaluation = (input: unknown, agentName = AGENT) => ({
    agent_name: agentName,
    stage: 'pre',
    step: { type: 'llm', name: 'n', input },
  });
  const send = (body: unknown) => call('POST', PATH, body);

  it('holds a verdict as Evaluate gives it, or a problem body, for each evaluation in its order', async () => {
    const { status, body } = await send({
      evaluations: [evaluation('bad'), evaluation('x', 'nobody-at-all'), 7, evaluation('good')],
    });
    expect(status).toBe(200);
    const single = (await call('POST', '/api/v1/evaluation', evaluation('bad'))).body;
    const ids = { control_execution_id: expect.any(String) };
    expect(body).toEqual({
      results: [
        { verdict: { ...single, matches: [{ ...single.matches[0], ...ids }] } },
        {
          error: expect.objectContaining({
            status: 404,
            error_code: 'AGENT_NOT_FOUND',
            instance: PATH,
            details: { name: 'nobody-at-all', kind: 'Agent' },
          }),
        },
        { error: expect.objectContaining({ status: 422, error_code: 'VALIDATION_ERROR' }) },
        { verdict: expect.objectContaining({ is_safe: true }) },
      ],
    });
  });

  it('holds as many as there may be, in their order', async () => {
    const evaluations = Array.from({ length: 1_000 }, (_, at) => evaluation(at % 7 === 0 ? 'bad' : 'good'));
    const { status, body } = await send({ evaluations });
    expect(status).toBe(200);
    expect(body.results.map(({ verdict }: { verdict: { is_safe: boolean } }) => verdict.is_safe)).toEqual(
      evaluations.map((_, at) => at % 7 !== 0),
    );
  });

  it.each([
    ['none', { evaluations: [] }, 'evaluations too_short'],
    ['too many', { evaluations: Array(1_001).fill({}) }, 'evaluations too_long'],
    ['no list', { evaluations: {} }, 'evaluations list_type'],
    ['nothing', {}, 'evaluations missing'],
  ])('is refused with %s', async (_what, sent, problem) => {
    const { status, body } = await send(sent);
    const [{ field, code }] = body.errors;
    expect([status, `${field} ${code}`]).toEqual([422, problem]);
  });

  it('is bounded like every body', async () => {
    expect(await send({ evaluations: [evaluation('x'.repeat(1_000_000))] })).toMatchObject({ status: 413 });
  });
});
