import { isStorable } from '../../database/text.js';
import { type EventFilter, wantedFacets } from '../store/event-filter.js';
import type { ClickHouseQuery } from './clickhouse-connection.js';

/** Conditions of a query, and the values of their parameters. */
export interface Conditions {
  readonly texts: readonly string[];
  readonly parameters: Readonly<Record<string, unknown>>;
}

export const NO_CONDITIONS: Conditions = { texts: [], parameters: {} };

/** The same conditions and one more. */
export const withCondition = ({ texts, parameters }: Conditions, text: string): Conditions => ({
  texts: [...texts, text],
  parameters,
});

export const whereOf = ({ texts }: Conditions): string => (texts.length === 0 ? '1' : texts.join(' AND '));

export const queryOf = (text: string, { parameters }: Conditions): ClickHouseQuery => ({ text, parameters });

/** All conditions of a filter; or that no event can match it. `eventTest` does the same in memory. */
export function conditionsOf(filter: EventFilter): Conditions | 'nothing' {
  const { traceId, spanId, executionId, agentName, controlIds = [], fromUs, toUs } = filter;
  const { stepType, stepName, sessionId, stepId, decisionId, minRevision, maxRevision, hasError } = filter;
  const equal = {
    trace_id: traceId,
    span_id: spanId,
    control_execution_id: executionId,
    agent_name: agentName,
    step_type: stepType,
    step_name: stepName,
    session_id: sessionId,
    step_id: stepId,
    decision_id: decisionId,
  };
  const parameters = Object.fromEntries(Object.entries(equal).filter(([, text]) => text));
  if (!Object.values(parameters).every((text) => isStorable(String(text)))) return 'nothing';
  const ids = [...new Set(controlIds)].filter((id) => (id | 0) === id);
  if (controlIds.length > 0 && ids.length === 0) return 'nothing';
  const texts = Object.keys(parameters).map((name) => `${name} = {${name}:String}`);
  if (executionId) texts.push(HAS_ID);
  if (minRevision !== undefined) texts.push(`revision >= ${minRevision}`);
  if (maxRevision !== undefined) texts.push(`revision <= ${maxRevision}`);
  if (hasError !== undefined) texts.push(`${hasError ? 'isNotNull' : 'isNull'}(error_message)`);
  if (ids.length > 0) texts.push(`control_id IN (${ids.join(', ')})`);
  const facets = wantedFacets(filter);
  if (facets?.length === 0) return 'nothing';
  if (facets !== undefined) texts.push(`facets IN (${facets.join(', ')})`);
  if (fromUs !== undefined) texts.push(`time_us >= ${fromUs}`);
  if (toUs !== undefined) texts.push(`time_us <= ${toUs}`);
  return { texts, parameters };
}

/** Finds the only event with an id by the order of the table. */
const HAS_ID = `(time_us, position) IN (
  SELECT time_us, position FROM event_ids
  WHERE hash = cityHash64({control_execution_id:String}) AND id = {control_execution_id:String})`;
