import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/contract/config/config.js';
import { SETTINGS } from '../../src/contract/config/settings.js';
import { VERSION } from '../../src/contract/runtime/package-root.js';
import { testService } from '../support/service-suite.js';
import {
  build,
  DEPLOY,
  filesBelow,
  KUSTOMIZE,
  type Manifest,
  parsed,
  problemsOf,
} from './manifests.support.js';

const KUSTOMIZE_FOLDER = path.join(DEPLOY, 'kustomize');
const PREFIX = 'control_enforcement_server_';
/** Time until no proxy sends new connections, and for what follows draining, in seconds. */
const RESERVE_SECONDS = 5;

const read = (...names: string[]) => readFileSync(path.join(DEPLOY, ...names), 'utf8');
const manifest = (name: string): Manifest => parsed(read('kustomize', 'base', name))[0];
const ofPrometheus = (name: string): Manifest =>
  parsed(read('kustomize', 'components', 'prometheus', name))[0];
const DRAIN_SECONDS = Number(manifest('settings.yaml').data.SERVICE_DRAIN_SECONDS);

/** Every file of the kustomize folder but the kustomizations. */
const resources = filesBelow(KUSTOMIZE_FOLDER)
  .filter((file) => path.basename(file) !== 'kustomization.yaml')
  .flatMap((file) => {
    const from = path.relative(KUSTOMIZE_FOLDER, file);
    const isPatch = from.includes('overlays') && path.basename(file) === 'deployment.yaml';
    return parsed(readFileSync(file, 'utf8')).map((one) => ({ from, manifest: one, isPatch }));
  });

describe('The manifests', () => {
  it('have the members that Kubernetes knows, of the right types', () => {
    expect(problemsOf(resources)).toBe('');
  });

  it('would be refused with an unknown member, a wrong type or a missing member', () => {
    const deployment = manifest('deployment.yaml');
    const changed = (change: (copy: Manifest) => void) => {
      const copy = structuredClone(deployment);
      change(copy);
      return { from: 'changed', manifest: copy, isPatch: false };
    };
    const problems = problemsOf([
      changed((copy) => {
        copy.spec.template.spec.containers[0].readynessProbe = {};
      }),
      changed((copy) => {
        copy.spec.replicas = 'three';
      }),
      changed((copy) => {
        delete copy.spec.selector;
      }),
    ]);
    expect(problems).toMatch(/readynessProbe/);
    expect(problems).toMatch(/Type 'string' is not assignable to type 'number'/);
    expect(problems).toMatch(/'selector' is missing/);
  });

  it('are all used, and the kustomizations name nothing else', () => {
    for (const folder of ['base', 'components/prometheus', 'overlays/sqlite', 'overlays/postgresql']) {
      const [kustomization] = parsed(read('kustomize', folder, 'kustomization.yaml'));
      const named = [
        ...kustomization.resources.filter((name: string) => name !== '../../base'),
        ...(kustomization.patches ?? []).map((patch: { path: string }) => patch.path),
      ];
      const present = filesBelow(path.join(KUSTOMIZE_FOLDER, folder)).map((file) => path.basename(file));
      expect([...named, 'kustomization.yaml'].sort(), folder).toEqual(present.sort());
    }
  });

  it('select the pods of the deployment, and no peer of another application', () => {
    const labels = manifest('deployment.yaml').spec.template.metadata.labels;
    expect(manifest('deployment.yaml').spec.selector.matchLabels).toEqual(labels);
    expect(manifest('service.yaml').spec.selector).toEqual(labels);
    expect(manifest('network-policy.yaml').spec.podSelector.matchLabels).toEqual(labels);
    expect(ofPrometheus('service-monitor.yaml').spec.selector.matchLabels).toEqual(labels);
  });

  it('end a pod later than its calls', () => {
    const { spec } = manifest('deployment.yaml').spec.template;
    const [container] = spec.containers;
    const waitMs = Number(/\}, (\d+)\)/.exec(container.lifecycle.preStop.exec.command[2])?.[1]);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      waitMs / 1000 + DRAIN_SECONDS + RESERVE_SECONDS,
    );
    const { environment, stop_grace_period: grace } = parsed(read('compose.yaml'))[0].services.service;
    expect(Number.parseInt(grace, 10)).toBeGreaterThanOrEqual(
      Number(environment.SERVICE_DRAIN_SECONDS) + RESERVE_SECONDS,
    );
    const unit = read('systemd', 'control-enforcement.service');
    const number = (pattern: RegExp) => Number(pattern.exec(unit)?.[1]);
    expect(number(/^TimeoutStopSec=(\d+)$/m)).toBeGreaterThanOrEqual(
      number(/SERVICE_DRAIN_SECONDS=(\d+)/) + RESERVE_SECONDS,
    );
  });

  it('set variables that the service knows, to values that it accepts', () => {
    const settings: Record<string, string> = manifest('settings.yaml').data;
    const names = SETTINGS.flatMap((setting) => setting.names);
    expect(Object.keys(settings).filter((name) => !names.includes(name))).toEqual([]);
    const config = readConfig({ ...settings, SERVICE_API_KEYS: 'a-key-of-this-test' });
    const { ports } = manifest('deployment.yaml').spec.template.spec.containers[0];
    const containerPort = (name: string) =>
      ports.find((port: { name: string }) => port.name === name)?.containerPort;
    expect(containerPort('operations')).toBe(config.operations?.port);
    expect(containerPort('service')).toBe(config.port);
    const { environment } = parsed(read('compose.yaml'))[0].services.service;
    expect(readConfig(environment).databaseUrl).toMatch(/^postgresql:\/\/service:.*@database:5432\/service$/);
  });

  it('name the version of the service', () => {
    for (const overlay of ['sqlite', 'postgresql']) {
      const [{ images }] = parsed(read('kustomize', 'overlays', overlay, 'kustomization.yaml'));
      expect(images).toEqual([{ name: 'control-enforcement-service', newTag: VERSION }]);
    }
  });
});

describe('The alerts', () => {
  type Rule = { alert?: string; record?: string; expr: string; annotations: { runbook_url: string } };
  const all: Rule[] = ofPrometheus('prometheus-rule.yaml').spec.groups.flatMap(
    (group: Manifest) => group.rules,
  );
  const rules = all.filter(({ alert }) => alert !== undefined);

  it('have a section of the runbook each', () => {
    const page = readFileSync(path.join(DEPLOY, '..', 'docs', 'runbook.md'), 'utf8');
    const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert?.toLowerCase()}`);
    }
  });

  it('and the autoscaler use metrics that a service has, and so do their pages', async () => {
    const service = await testService();
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const present = new Set(
      [...text.matchAll(/^# TYPE (\w+) (\w+)/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : name,
      ),
    );
    const autoscaler = read('kustomize', 'overlays', 'postgresql', 'autoscaler.yaml');
    const used = [autoscaler, ...all.map(({ expr }) => expr)]
      .join('\n')
      .match(new RegExp(`${PREFIX}\\w+`, 'g'));
    expect(used?.length).toBeGreaterThan(all.length);
    // Rules that read what another one records.
    const recorded = new Set(all.flatMap(({ record }) => record ?? []));
    const derived = all.flatMap(({ expr }) => expr.match(/control_enforcement:[\w:]+/g) ?? []);
    expect(new Set(derived)).toEqual(recorded);
    expect((used ?? []).filter((name) => !present.has(name))).toEqual([]);
    const pages = ['runbook.md', 'slo.md'].map((name) => read('..', 'docs', name)).join('\n');
    // A histogram may be named as a whole.
    const named = [...pages.matchAll(/…_(\w+)/g)].map(([, name]) => PREFIX + name);
    const isPresent = (name: string) => present.has(name) || present.has(`${name}_bucket`);
    expect(named.length).toBeGreaterThan(rules.length);
    expect(named.filter((name) => !isPresent(name))).toEqual([]);
  });
});

if (KUSTOMIZE === undefined)
  process.stderr.write('neither kustomize nor kubectl is installed: overlays are not built\n');
describe.runIf(KUSTOMIZE !== undefined)('An overlay that is built', () => {
  it.each(['sqlite', 'postgresql'])('has valid resources for restricted pods: %s', (overlay) => {
    const built = build(overlay);
    expect(problemsOf(built.map((one) => ({ from: overlay, manifest: one, isPatch: false })))).toBe('');
    const one = (kind: string) => built.find((each) => each.kind === kind);
    const {
      spec,
      spec: { template },
    } = one('Deployment');
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    for (const container of [...template.spec.containers, ...(template.spec.initContainers ?? [])]) {
      expect(container.image).toBe(`control-enforcement-service:${VERSION}`);
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    const [service] = template.spec.containers;
    // Without an operator, and with the keys file where the settings say.
    expect(built.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.'))).toEqual([]);
    const { SERVICE_KEYS_FILE: keysFile } = one('ConfigMap').data;
    const { mountPath } = service.volumeMounts.find((mount: Manifest) => mount.name === 'keys');
    const { secret } = template.spec.volumes.find((volume: Manifest) => volume.name === 'keys');
    expect(`${mountPath}/${secret.items[0].path}`).toBe(keysFile);
    expect(service.env).toContainEqual({
      name: 'SERVICE_SESSION_SECRET',
      valueFrom: { secretKeyRef: { name: secret.secretName, key: 'session-secret' } },
    });
    expect(service.readinessProbe.httpGet).toMatchObject({ path: '/ready', port: 'operations' });
    expect(service.livenessProbe.httpGet).toMatchObject({ path: '/health', port: 'operations' });
    if (overlay === 'sqlite') {
      expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
      expect(template.spec.volumes).toEqual([
        { name: 'data', persistentVolumeClaim: { claimName: one('PersistentVolumeClaim').metadata.name } },
        expect.objectContaining({ name: 'keys' }),
      ]);
    } else {
      expect(spec).toMatchObject({ replicas: 3, strategy: { rollingUpdate: { maxUnavailable: 0 } } });
      expect(template.spec.topologySpreadConstraints).toHaveLength(2);
      const secrets = (each: Manifest) =>
        each.envFrom.flatMap((from: Manifest) => from.secretRef?.name ?? []);
      // The right to change the structure is in the container that ends before the service starts.
      expect(secrets(template.spec.initContainers[0])).toContain('control-enforcement-migration');
      expect(secrets(service)).toEqual(['control-enforcement-database']);
      expect(service.env).toContainEqual({ name: 'SERVICE_MIGRATE', value: 'check' });
      expect(one('PodDisruptionBudget').spec.selector).toEqual(spec.selector);
      expect(one('HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe(one('Deployment').metadata.name);
    }
  });
});

describe.runIf(KUSTOMIZE !== undefined)('An overlay with the component for Prometheus', () => {
  it('links its alerts to the runbook of its setting', () => {
    const folder = mkdtempSync(path.join(KUSTOMIZE_FOLDER, 'overlays', 'test-'));
    const url = 'https://docs.example.com/controls/runbook.md';
    const overlay = { resources: ['../sqlite'], components: ['./prometheus'] };
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(path.join(KUSTOMIZE_FOLDER, 'components', 'prometheus'), path.join(folder, 'prometheus'), {
      recursive: true,
    });
    const setting = path.join(folder, 'prometheus', 'runbook.yaml');
    writeFileSync(setting, readFileSync(setting, 'utf8').replace('url: docs/runbook.md', `url: ${url}`));
    writeFileSync(path.join(folder, 'kustomization.yaml'), JSON.stringify(overlay));
    const built = build(path.basename(folder));
    const rule = built.find(({ kind }) => kind === 'PrometheusRule');
    const links = rule.spec.groups.flatMap((group: Manifest) =>
      group.rules.flatMap((each: Manifest) => each.annotations?.runbook_url ?? []),
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((link: string) => !link.startsWith(`${url}#`))).toEqual([]);
    expect(built.map(({ kind }) => kind)).toContain('ServiceMonitor');
  });
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd) process.stderr.write('systemd-analyze is not installed: the unit file is not verified\n');
describe.runIf(hasSystemd)('The systemd unit', () => {
  const unit = path.join(DEPLOY, 'systemd', 'control-enforcement.service');

  it('is exposed little', () => {
    const words = ['security', '--offline=yes', '--no-pager', '--threshold=40', unit];
    const { status, stdout } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(4);
    expect(status).toBe(0);
  });

  it('is verified without a complaint about itself', () => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('control-enforcement.service'))).toEqual([]);
  });
});
