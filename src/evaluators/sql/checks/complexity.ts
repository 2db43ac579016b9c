import type { Statement } from '../../../sql-reader/model.js';
import { type Check, violation } from './check.js';

/** How complex each statement is. A maximum of 0 is no maximum. */
export const checkComplexity: Check = ({ statements }, config) => {
  const measures: [keyof Statement & ('depth' | 'joins' | 'setOperations'), number | null, string, string][] =
    [
      ['depth', config.maxSubqueryDepth, 'subquery_depth', 'levels of subqueries'],
      ['joins', config.maxJoins, 'join_count', 'joins'],
      ['setOperations', config.maxUnionCount, 'union_count', 'set operations'],
    ];
  for (const statement of statements) {
    for (const [measure, maximum, member, label] of measures) {
      const count = statement[measure];
      if (maximum === null || maximum === 0 || count <= maximum) continue;
      const limitName = member === 'join_count' ? 'max_joins' : `max_${member}`;
      return violation(
        `${count} ${label}, more than ${maximum}`,
        { [member]: count, [limitName]: maximum },
        'query',
      );
    }
  }
  return null;
};
