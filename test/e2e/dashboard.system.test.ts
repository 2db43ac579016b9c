import { readFileSync } from 'node:fs';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { findUp } from '../../src/contract/runtime/package-root.js';
import { restClient } from '../support/http.js';
import { parseMetrics, type Sample } from '../support/prometheus.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { event, eventRoutes } from './events.support.js';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

const DASHBOARD = JSON.parse(
  readFileSync(findUp('deploy/grafana/control-enforcement.json'), 'utf8'),
) as Dashboard;
const PREFIX = 'acme';
/** As Grafana writes the variable. */
const PREFIX_VARIABLE = '$' + '{prefix}';
const AGENT = 'charted-agent';

/** Labels that Prometheus adds to what it scrapes. */
const ADDED = ['instance'];

/** What a query reads: a metric, the labels that it has to have, and the values that are asked for. */
interface Selection {
  readonly metric: string;
  readonly labels: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

const QUERIES = DASHBOARD.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({
    title,
    expr: expr.replaceAll(PREFIX_VARIABLE, PREFIX),
    legendFormat,
  })),
);

function selections(expr: string): Selection[] {
  const groups = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
  return [...expr.matchAll(new RegExp(`\\b(${PREFIX}_\\w+)\\{([^}]*)\\}`, 'g'))].map(
    ([, metric = '', matchers = '']) => {
      const pairs = [...matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)].map(
        ([, label = '', operator, value = '']) => ({ label, operator, value }),
      );
      const exact = pairs.filter(({ operator, label }) => operator === '=' && !ADDED.includes(label));
      return {
        metric,
        labels: [...groups, ...pairs.map(({ label }) => label)].filter((label) => !ADDED.includes(label)),
        values: Object.fromEntries(exact.map(({ label, value }) => [label, value])),
      };
    },
  );
}

interface Exported {
  /** Names by the TYPE lines; for a histogram those of its samples. */
  readonly names: ReadonlySet<string>;
  readonly samples: readonly Sample[];
}

async function exported(url: string): Promise<Exported> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const names = new Set<string>();
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const part of parts) names.add(name + part);
  }
  return { names, samples: parseMetrics(text) };
}

/** One check by an evaluator that answers at once, one over RPC, one on a stream, an event. */
async function traffic(url: string): Promise<void> {
  const rest = restClient(url);
  const seed = seeder(rest);
  await seed.linked(AGENT, 'no-bad', denyWord('bad'));
  expect((await evaluate(rest, AGENT, 'bad')).status).toBe(200);
  const client = createClient(EvaluationService, rpcTransport('gRPC', url));
  const step = { type: 'llm', name: 'n', input: { kind: { case: 'stringValue' as const, value: 'x' } } };
  const evaluation = { agentName: AGENT, stage: Stage.PRE, stepForm: { case: 'step' as const, value: step } };
  await client.evaluate(evaluation);
  for await (const { results } of client.evaluateStream(once({ evaluations: [evaluation] }))) {
    expect(results).toHaveLength(1);
  }
  await eventRoutes(rest).send(event({ agent_name: AGENT }));
}

async function* once<T>(message: T): AsyncGenerator<T> {
  yield message;
}

/** Metrics whose rows begin with events that this traffic does not bring: refusals, and checks that are waited for. */
const RARE = [`${PREFIX}_refused_calls_total`, `${PREFIX}_evaluator_duration_seconds_bucket`];

function missing({ names, samples }: Exported, hasTraffic: boolean): string[] {
  return QUERIES.flatMap(({ title, expr }) =>
    selections(expr).flatMap(({ metric, labels, values }) => {
      if (!names.has(metric)) return [`${title}: nothing is called ${metric}`];
      if (!hasTraffic || RARE.includes(metric)) return [];
      const found = samples.some(
        (sample) =>
          sample.name === metric &&
          labels.every((label) => label in sample.labels) &&
          Object.entries(values).every(([label, value]) => sample.labels[label] === value),
      );
      return found ? [] : [`${title}: ${metric} has no row with ${JSON.stringify({ labels, values })}`];
    }),
  );
}

describe('the dashboard', () => {
  let service: TestService;
  let processes: ServiceProcess;
  beforeAll(async () => {
    const environment = { SERVICE_PROMETHEUS_METRICS_PREFIX: PREFIX };
    service = await startService(environment);
    processes = await spawnService(compiled, {
      environment: { ...environment, SERVICE_WORKERS: '2', SERVICE_LOG_JSON: 'true' },
    });
  });
  afterAll(async () => {
    await service.stop();
    await processes.dispose();
  });

  it('has queries that this test can read, in every panel', () => {
    expect(QUERIES.length).toBeGreaterThan(25);
    for (const { title, expr, legendFormat } of QUERIES) {
      expect({ title, metrics: selections(expr).length }).not.toMatchObject({ metrics: 0 });
      // Every metric is selected with the instances, so that none escapes the check.
      expect(expr.split(`${PREFIX}_`).length - 1).toBe(selections(expr).length);
      expect(expr.split('instance=~"$instance"').length - 1).toBe(selections(expr).length);
      expect(expr.split('(').length).toBe(expr.split(')').length);
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
      expect(grouped).toEqual(expect.arrayContaining(shown));
    }
  });
  it('takes rates of what only grows, and of nothing else', () => {
    for (const { expr } of QUERIES) {
      for (const { metric } of selections(expr)) {
        const grows = /_(total|bucket|count)$/.test(metric);
        expect({ expr, isRate: expr.includes(`rate(${metric}`) }).toEqual({ expr, isRate: grows });
      }
    }
  });
  it('starts with the prefix that the service has by default', async () => {
    const plain = await startService();
    const { names } = await exported(plain.url);
    await plain.stop();
    const variable = DASHBOARD.templating.list.find(({ name }) => name === 'prefix');
    expect(names.has(`${variable?.query}_revision`)).toBe(true);
  });
  it('finds its metrics before there is traffic', async () => {
    expect(missing(await exported(service.url), false)).toEqual([]);
  });
  it('finds their labels once there is some', async () => {
    await traffic(service.url);
    const found = await until(
      async () => missing(await exported(service.url), true),
      (all) => all.length === 0,
    ).catch(async () => missing(await exported(service.url), true));
    expect(found).toEqual([]);
  });
  it('finds them in the sum of several processes as well', async () => {
    const url = await processes.listening();
    expect(missing(await exported(url), false)).toEqual([]);
    await traffic(url);
    const found = await until(
      async () => missing(await exported(url), true),
      (all) => all.length === 0,
    ).catch(async () => missing(await exported(url), true));
    expect(found).toEqual([]);
  });
});
