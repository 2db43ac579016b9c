import {
  conditionsOf,
  type EventCondition,
  type EventFilter,
} from '../../../src/observe/events/store/event-filter.js';
import type { ClickHouseQuery } from '../../clickhouse-tables/src/index.js';

/** Conditions of a query, and the values of their parameters. */
export interface Conditions {
  readonly texts: readonly string[];
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The same conditions and one more. */
export const withCondition = ({ texts, parameters }: Conditions, text: string): Conditions => ({
  texts: [...texts, text],
  parameters,
});

export const whereOf = ({ texts }: Conditions): string => (texts.length === 0 ? '1' : texts.join(' AND '));

export const queryOf = (text: string, { parameters }: Conditions): ClickHouseQuery => ({ text, parameters });

/** All conditions of a filter; or that no event can match it. */
export function clickHouseConditionsOf(filter: EventFilter): Conditions | 'nothing' {
  const conditions = conditionsOf(filter);
  if (conditions === 'nothing') return 'nothing';
  return {
    texts: conditions.map(textOf),
    parameters: Object.fromEntries(
      conditions.flatMap((one) => {
        if (one.test === 'NAMESPACE') return [['namespace', one.namespace.name]];
        return one.test === '=' ? [[one.column, one.value]] : [];
      }),
    ),
  };
}

function textOf(condition: EventCondition): string {
  const { column, test } = condition;
  switch (test) {
    case 'NAMESPACE':
      return IN_NAMESPACE;
    case '=': {
      const equal = `${column} = {${column}:String}`;
      return column === 'control_execution_id' ? `${equal} AND ${HAS_ID}` : equal;
    }
    case 'IN':
      return `${column} IN (${condition.values.join(', ')})`;
    case '>=':
    case '<=':
      return `${column} ${test} ${condition.value}`;
    default:
      return `${column} ${test}`;
  }
}

const IN_NAMESPACE = 'namespace = {namespace:String}';

/** Whether the namespace is the only condition. */
export const isWhole = ({ texts }: Conditions): boolean => texts.every((text) => text === IN_NAMESPACE);

/** Finds the only event with an id by the order of the table. */
const HAS_ID = `(time_us, position) IN (
  SELECT time_us, position FROM event_ids
  WHERE hash = cityHash64({control_execution_id:String}) AND id = {control_execution_id:String})`;
