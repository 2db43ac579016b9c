import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ConditionSchema } from '@gen/enforcement/v1/control_pb.js';

type Condition = MessageInitShape<typeof ConditionSchema>;

/** A control of the starter policy. */
export interface StarterControl {
  readonly name: string;
  /** What it finds. */
  readonly finds: string;
  readonly condition: Condition;
}

export const STARTER_POLICY = 'starter-policy';

const inInput = (pattern: string): Condition => ({
  selector: { path: 'input' },
  evaluator: { name: 'regex', config: { pattern } },
});

/** Prefixes that common services give their keys, and the head of a private key. */
const SECRETS = [
  'AKIA[0-9A-Z]{16}',
  'AIza[0-9A-Za-z_-]{35}',
  'gh[pousr]_[0-9A-Za-z]{36}',
  'sk-[0-9A-Za-z_-]{20,}',
  'xox[abprs]-[0-9A-Za-z-]{10,}',
  '-----BEGIN [A-Z ]*PRIVATE KEY-----',
];

/** Controls that every agent can have: they observe, so that nothing is denied before someone has looked. */
export const STARTER_CONTROLS: readonly StarterControl[] = [
  {
    name: 'starter-card-numbers',
    finds: 'numbers like those of payment cards',
    condition: inInput('\\b(?:\\d[ -]?){12,18}\\d\\b'),
  },
  {
    name: 'starter-secrets',
    finds: 'keys of common services and private keys',
    condition: inInput(`(?:${SECRETS.join('|')})`),
  },
  {
    name: 'starter-sql-without-where',
    finds: 'SQL that deletes or updates without WHERE',
    condition: {
      and: {
        conditions: [
          inInput('(?i)\\b(?:delete\\s+from|update\\s+\\S+\\s+set)\\b'),
          { not: inInput('(?i)\\bwhere\\b') },
        ],
      },
    },
  },
];
