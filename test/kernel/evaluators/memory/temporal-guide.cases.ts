import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Sent } from './history.support.js';

/** A step of a trace: how much later it is, and whether the statement holds for it. */
export interface GuideStep extends Sent {
  readonly afterMs?: number;
  /** Whether a control that acts on a match acts; `error` if it cannot tell. */
  readonly matches: boolean | 'error';
}

/** A statement that guides to temporal policies of agents explain, with a trace. */
export interface GuideCase {
  readonly title: string;
  readonly config: JsonObject;
  /** Names of the steps that the control is for; others are recorded only. */
  readonly scope: readonly string[];
  /** Whether a control denies where the statement does not hold, as a requirement does. */
  readonly requires?: boolean;
  readonly trace: readonly GuideStep[];
}

const HOUR = 3_600_000;
const transfer = (amount: number, id: string): Sent => ({ name: 'transfer', input: { amount }, id });

export const GUIDE_CASES: readonly GuideCase[] = [
  {
    title: 'a claim is paid only after it was approved, the same claim',
    config: {
      op: 'formerly',
      within: '1h',
      event: {
        kinds: ['response'],
        step_names: ['approve_claim'],
        where: ['event.output.claimId == input.claimId'],
      },
    },
    scope: ['pay_claim'],
    requires: true,
    trace: [
      { name: 'pay_claim', input: { claimId: 7 }, matches: false },
      { name: 'approve_claim', id: 'a', input: { claimId: 7 }, matches: false },
      // It is approved once the step has run, not when it begins.
      { name: 'pay_claim', input: { claimId: 7 }, matches: false },
      {
        name: 'approve_claim',
        id: 'a',
        stage: 'post',
        input: { claimId: 7 },
        output: { claimId: 7 },
        matches: false,
      },
      { name: 'pay_claim', input: { claimId: 8 }, matches: false },
      { name: 'pay_claim', input: { claimId: 7 }, matches: true },
      { name: 'pay_claim', session: 's2', input: { claimId: 7 }, matches: false },
      { name: 'pay_claim', input: {}, matches: 'error' },
      { name: 'pay_claim', input: { claimId: 7 }, afterMs: HOUR + 1, matches: false },
    ],
  },
  {
    title: 'an approval counts exactly as long as the window, and no longer',
    config: { op: 'formerly', within: '1s', event: { kinds: ['request'], step_names: ['approve'] } },
    scope: ['deploy'],
    requires: true,
    trace: [
      { name: 'approve', matches: false },
      { name: 'deploy', afterMs: 1_000, matches: true },
      { name: 'deploy', afterMs: 1, matches: false },
    ],
  },
  {
    title: 'an approval that was denied, or that failed, is none',
    config: { op: 'formerly', within: '1h', event: { kinds: ['response'], step_names: ['approve'] } },
    scope: ['deploy'],
    requires: true,
    trace: [
      { name: 'approve', id: 'a', matches: false },
      { name: 'approve', id: 'a', stage: 'post', error: 'timed out', matches: false },
      { name: 'deploy', matches: false },
      { name: 'approve', id: 'b', matches: false },
      { name: 'approve', id: 'b', stage: 'post', output: {}, matches: false },
      { name: 'deploy', matches: true },
    ],
  },
  {
    title: 'tests run immediately before a release',
    config: { op: 'previous', within: '10m', event: { kinds: ['response'], step_names: ['run_tests'] } },
    scope: ['release'],
    requires: true,
    trace: [
      { name: 'run_tests', id: 't', matches: false },
      { name: 'run_tests', id: 't', stage: 'post', output: 'passed', matches: false },
      { name: 'release', matches: true },
      { name: 'edit', id: 'e', matches: true },
      { name: 'edit', id: 'e', stage: 'post', output: null, matches: true },
      { name: 'release', matches: false },
    ],
  },
  {
    title: 'transfers of an hour are at most 5000, those in flight included',
    config: {
      op: 'sum',
      within: '1h',
      event: { kinds: ['request'], step_names: ['transfer'] },
      value: 'input.amount',
      compare: { gt: 5_000 },
      include_current: true,
    },
    scope: ['transfer'],
    trace: [
      { ...transfer(2_000, 'one'), matches: false },
      { ...transfer(2_000, 'two'), matches: false },
      { ...transfer(2_000, 'three'), matches: true },
      // What was denied was not transferred.
      { ...transfer(1_000, 'four'), matches: false },
      { ...transfer(0.01, 'five'), matches: true },
      // The same step again is the same transfer.
      { ...transfer(2_000, 'two'), matches: false },
      { ...transfer(Number.NaN, 'six'), input: { amount: '5' }, matches: 'error' },
      { ...transfer(1, 'seven'), input: { amount: -1 }, matches: 'error' },
      { ...transfer(5_000, 'eight'), afterMs: HOUR + 1, matches: false },
    ],
  },
  {
    title: 'nothing is sent after a secret was read',
    config: {
      op: 'formerly',
      within: '24h',
      event: {
        kinds: ['response'],
        step_names: ['read_file'],
        where: ['event.input.path.startsWith("/secrets/")'],
      },
    },
    scope: ['send'],
    trace: [
      { name: 'read_file', id: 'r', input: { path: '/tmp/a' }, matches: false },
      { name: 'read_file', id: 'r', stage: 'post', input: { path: '/tmp/a' }, output: 'a', matches: false },
      { name: 'send', matches: false },
      { name: 'read_file', id: 's', input: { path: '/secrets/key' }, matches: false },
      {
        name: 'read_file',
        id: 's',
        stage: 'post',
        input: { path: '/secrets/key' },
        output: 'b',
        matches: false,
      },
      { name: 'send', matches: true },
      { name: 'send', session: 's2', matches: false },
    ],
  },
  {
    title: 'what was read from outside is not sent out by the same session',
    config: {
      op: 'formerly',
      within: '1h',
      event: { kinds: ['response'], where: ['event.context.trusted == false'] },
    },
    scope: ['http_post'],
    trace: [
      { name: 'fetch', id: 'f', context: { trusted: true }, matches: false },
      { name: 'fetch', id: 'f', stage: 'post', context: { trusted: true }, output: 'x', matches: false },
      { name: 'http_post', matches: false },
      { name: 'browse', id: 'b', context: { trusted: false }, matches: false },
      { name: 'browse', id: 'b', stage: 'post', context: { trusted: false }, output: 'y', matches: false },
      { name: 'http_post', matches: true },
    ],
  },
  {
    title: 'a change needs a review since the last change',
    config: {
      op: 'not_since',
      within: '1h',
      event: { kinds: ['response'], step_names: ['review'] },
      anchor: { kinds: ['response'], step_names: ['change'] },
    },
    scope: ['publish'],
    trace: [
      { name: 'publish', matches: false },
      { name: 'change', id: 'c', stage: 'post', output: 1, matches: false },
      { name: 'publish', matches: true },
      { name: 'review', id: 'r', stage: 'post', output: 1, matches: true },
      { name: 'publish', matches: false },
      { name: 'change', id: 'd', stage: 'post', output: 1, matches: false },
      { name: 'publish', matches: true },
      { name: 'publish', afterMs: HOUR + 1, matches: false },
    ],
  },
  {
    title: 'at most three mails in an hour',
    config: {
      op: 'count',
      within: '1h',
      event: { kinds: ['request'], step_names: ['send_mail'] },
      compare: { gt: 3 },
      include_current: true,
    },
    scope: ['send_mail'],
    trace: [
      { name: 'send_mail', id: '1', matches: false },
      { name: 'send_mail', id: '2', matches: false },
      { name: 'send_mail', id: '3', matches: false },
      { name: 'send_mail', id: '4', matches: true },
      { name: 'send_mail', id: '3', matches: false },
      { name: 'send_mail', id: '5', session: 's2', matches: false },
      { name: 'send_mail', id: '6', afterMs: HOUR + 1, matches: false },
    ],
  },
  {
    title: 'mails go to at most two recipients in an hour, by all sessions of an agent',
    config: {
      op: 'distinct',
      within: '1h',
      event: { kinds: ['request'], step_names: ['send_mail'] },
      value: 'input.to',
      compare: { gt: 2 },
      include_current: true,
      key: ['agent'],
    },
    scope: ['send_mail'],
    trace: [
      { name: 'send_mail', input: { to: 'a@x' }, matches: false },
      { name: 'send_mail', input: { to: 'b@x' }, session: 's2', matches: false },
      { name: 'send_mail', input: { to: 'a@x' }, session: 's3', matches: false },
      { name: 'send_mail', input: { to: 'c@x' }, matches: true },
      { name: 'send_mail', input: { to: 'c@x' }, agent: 'other', matches: false },
      { name: 'send_mail', input: {}, matches: 'error' },
    ],
  },
  {
    title: 'an offer is not lower than one that was made before',
    config: {
      op: 'formerly',
      within: '1h',
      event: {
        kinds: ['request'],
        step_names: ['offer'],
        where: ['event.input.item == input.item && event.input.price > input.price'],
      },
    },
    scope: ['offer'],
    trace: [
      { name: 'offer', input: { item: 1, price: 10 }, matches: false },
      { name: 'offer', input: { item: 1, price: 12 }, matches: false },
      { name: 'offer', input: { item: 2, price: 11 }, matches: false },
      { name: 'offer', input: { item: 1, price: 11 }, matches: true },
      { name: 'offer', input: { item: 1, price: 'low' }, matches: 'error' },
      { name: 'offer', input: { item: 1 }, matches: 'error' },
    ],
  },
  {
    title: 'after three denied attempts a session is stopped',
    config: { op: 'count', within: '10m', event: { kinds: ['denied'] }, compare: { gte: 3 } },
    scope: ['read'],
    trace: [
      { name: 'drop_table', matches: false },
      { name: 'read', matches: false },
      { name: 'drop_table', matches: false },
      { name: 'drop_table', matches: false },
      { name: 'read', matches: true },
    ],
  },
  {
    title: 'after an error of the same tool it is not called again for a minute',
    config: {
      op: 'formerly',
      within: '1m',
      event: { kinds: ['error'], where: ['event.step.name == step.name', 'event.error.contains("quota")'] },
    },
    scope: ['search', 'fetch'],
    trace: [
      { name: 'search', id: '1', matches: false },
      { name: 'search', id: '1', stage: 'post', error: 'quota exceeded', matches: false },
      { name: 'search', id: '2', matches: true },
      { name: 'fetch', id: '3', matches: false },
      { name: 'search', id: '4', afterMs: 60_001, matches: false },
    ],
  },
];
