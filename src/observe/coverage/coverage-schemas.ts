import { z } from 'zod';
import {
  list,
  nullable,
  oneOf,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { described } from '../../contract/input/messages.js';
import { unreadAgentName } from '../../contract/input/names.js';
import { integer } from '../../contract/input/numbers.js';
import { pageSize } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';

const MAX_EXPECTATIONS = 20;
const INTERVAL_S = { min: 60, max: 30 * 86_400 } as const;
const POINT = /^[A-Za-z0-9_.-]*$/;

const expectation = z.object(
  {
    point: nullable(text({ min: 1, max: 64, pattern: POINT })),
    interval_seconds: integer(INTERVAL_S),
  },
  described('an object with interval_seconds'),
);

/** Input schemas of CoverageService, by RPC. */
export const COVERAGE_SCHEMAS = {
  listCoverage: z.object({
    cursor: nullable(text()),
    limit: pageSize({ max: 50 }),
    name: nullable(text()),
    state: nullable(oneOf(['never_seen', 'overdue'], 'enum')),
  }),
  getCoverage: z.object({ agent_name: unreadAgentName }),
  setExpectations: withExample(
    z
      .object({
        agent_name: unreadAgentName,
        expectations: withDefault(list(expectation, { max: MAX_EXPECTATIONS }), []),
      })
      .superRefine(({ expectations }, sink) => {
        const points = expectations.map(({ point }) => point);
        const at = points.findIndex((point, index) => points.indexOf(point) < index);
        if (at === -1) return;
        report(sink, 'value_error', 'must be another point than those before', null, [
          'expectations',
          at,
          'point',
        ]);
      }),
    { expectations: [{ point: 'rest', interval_seconds: 900 }] },
  ),
};

/** Outputs of these schemas, by RPC. */
export type CoverageInputs = InputsOf<typeof COVERAGE_SCHEMAS>;
