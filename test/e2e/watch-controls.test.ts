import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import type { RestClient } from '../support/http.js';
import { openedInSuite } from '../support/opened.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { describeService, suiteService } from '../support/service-suite.js';
import { damageControl } from '../support/sql.js';
import { until } from '../support/until.js';
import { type Watcher, watchControls } from './watch-controls.support.js';

/** The one statement by which the controls of an agent are loaded. */
const LOAD = /"service_state" s\s+LEFT JOIN "agents"/;

describeService('WatchControls', ({ call, seed, service: writer }) => {
  let agents = 0;
  const replica = suiteService(() => ({ DATABASE_URL: writer.databaseUrl }));
  const watchers = openedInSuite<Watcher>((one) => one.stop());

  function watch(
    agentName: string,
    options: { service?: TestService; protocol?: RpcProtocol; fromRevision?: number } = {},
  ): Watcher {
    const { service = writer, protocol = 'gRPC', ...more } = options;
    const watcher = watchControls(rpcTransport(protocol, service.url), agentName, more);
    watchers.push(watcher);
    return watcher;
  }

  async function newAgent(): Promise<string> {
    agents += 1;
    const name = `watched-agent-${agents}`;
    await seed.agent(name);
    return name;
  }

  /** Makes a change and returns its revision. */
  async function changed(...request: Parameters<RestClient>): Promise<number> {
    const reply = await call(...request);
    expect(reply).toMatchObject({ status: 200 });
    return Number(reply.headers.get('x-service-revision'));
  }

  const codeOf = async (watcher: Watcher) => {
    const end = await watcher.ended;
    return end instanceof ConnectError ? end.code : end;
  };

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    it('sends the controls at once and every change of them, also one that another replica makes', async () => {
      const agent = await newAgent();
      const tag = `${agent}-${protocol}`.replaceAll(/[^a-z0-9]+/gi, '-');
      const path = `/api/v1/agents/${agent}`;
      const first = await seed.control(`${tag}-first`);
      const second = await seed.control(`${tag}-second`);
      const policy = (await call('PUT', '/api/v1/policies', { name: `${tag}-policy` })).body.policy_id;
      await changed('POST', `${path}/controls/${first}`);
      const near = watch(agent, { protocol });
      const far = watch(agent, { protocol, service: replica });
      const steps: [request: Parameters<RestClient>, names: string[]][] = [
        [['POST', `${path}/policies/${policy}`], [`${tag}-first`]],
        [
          ['POST', `/api/v1/policies/${policy}/controls/${second}`],
          [`${tag}-second`, `${tag}-first`],
        ],
        [
          ['PATCH', `/api/v1/controls/${first}`, { name: `${tag}-third` }],
          [`${tag}-second`, `${tag}-third`],
        ],
        [
          ['PATCH', `/api/v1/controls/${second}`, { enabled: false }],
          [`${tag}-second`, `${tag}-third`],
        ],
        [['DELETE', `/api/v1/policies/${policy}/controls/${second}`], [`${tag}-third`]],
        [
          ['POST', `${path}/controls/${second}`],
          [`${tag}-second`, `${tag}-third`],
        ],
        [['DELETE', `${path}/controls/${first}`], [`${tag}-second`]],
        [['DELETE', `/api/v1/controls/${second}?force=true`], []],
      ];
      for (const watcher of [near, far]) {
        await until(watcher.names, (names) => names.length === 1);
        expect(watcher.kinds).toEqual(['full']);
      }
      for (const [request, names] of steps) {
        await changed(...request);
        for (const watcher of [near, far]) {
          await until(watcher.names, (told) => told.join() === names.join());
          if (request[0] === 'PATCH' && names[0] === `${tag}-second` && request[1].endsWith(`/${second}`))
            await until(watcher.controls, ([control]) => control?.control?.enabled === false);
        }
      }
      for (const watcher of [near, far]) {
        expect(new Set(watcher.kinds.slice(1))).toEqual(new Set(['changed']));
        expect(watcher.revisions).toEqual(watcher.revisions.toSorted((left, right) => left - right));
        watcher.stop();
      }
    });

    it('resumes from a revision without sending again what has not changed since', async () => {
      const agent = await newAgent();
      const control = await seed.control(`resumed-${agent}`);
      const linked = await changed('POST', `/api/v1/agents/${agent}/controls/${control}`);
      // Changes of others, one of them deleted: its agents are unknown.
      const foreign = await seed.control(`foreign-${agent}`);
      const told = await changed('PUT', `/api/v1/controls/${foreign}/data`, { data: denyWord('other') });
      const current = watch(agent, { protocol, fromRevision: linked, service: replica });
      await current.reached(told);
      expect(current.kinds).toEqual(['current']);
      const older = watch(agent, { protocol, fromRevision: linked - 1 });
      await until(older.names, (names) => names.length === 1);
      expect(older.kinds).toEqual(['full']);
      await changed('PATCH', `/api/v1/controls/${control}`, { name: `again-${agent}` });
      await until(current.names, ([name]) => name === `again-${agent}`);
      const deleted = await changed('DELETE', `/api/v1/controls/${control}?force=true`);
      const late = watch(agent, { protocol, fromRevision: deleted - 1, service: replica });
      await late.reached(deleted);
      // A replica that does not know of it yet tells that nothing changed up to what it knows, and then the change.
      expect(late.kinds[0] === 'full' || (late.revisions[0] ?? deleted) < deleted).toBe(true);
      expect(late.names()).toEqual([]);
      for (const watcher of [current, older, late]) watcher.stop();
    });

    it('refuses an agent that is not there, a name that is none and a revision below zero', async () => {
      expect(await codeOf(watch('nobody-at-all', { protocol }))).toBe(Code.NotFound);
      expect(await codeOf(watch('x', { protocol }))).toBe(Code.InvalidArgument);
      expect(await codeOf(watch('nobody-at-all', { protocol, fromRevision: -1 }))).toBe(Code.InvalidArgument);
    });
  });

  it('sends what ListAgentControls returns: disabled controls and drafts too', async () => {
    const agent = await newAgent();
    const disabled = await seed.control(`disabled-${agent}`, { ...denyWord('x'), enabled: false });
    const watcher = watch(agent);
    await seed.link(agent, disabled);
    await until(watcher.names, (names) => names.length === 1);
    const { body } = await call('GET', `/api/v1/agents/${agent}/controls`);
    expect(body.controls).toMatchObject([{ id: disabled, control: { enabled: false } }]);
    expect(watcher.controls()).toMatchObject([{ id: disabled, control: { enabled: false } }]);
    watcher.stop();
  });

  it('loads an agent once for a change, however many watch it, and not at all for those of others', async () => {
    const agent = await newAgent();
    const control = await seed.control(`shared-${agent}`);
    await seed.link(agent, control);
    const crowd = Array.from({ length: 50 }, () => watch(agent, { service: replica }));
    for (const watcher of crowd) await until(watcher.names, (names) => names.length === 1);
    const loads = () => replica.queries.filter((sql) => LOAD.test(sql)).length;
    const before = loads();
    const bystander = await seed.control(`bystander-${agent}`);
    await changed('PATCH', `/api/v1/controls/${bystander}`, { name: `renamed-bystander-${agent}` });
    await changed('PATCH', `/api/v1/controls/${control}`, { name: `renamed-${agent}` });
    for (const watcher of crowd) await until(watcher.names, ([name]) => name === `renamed-${agent}`);
    expect(loads() - before).toBe(1);
    for (const watcher of crowd) watcher.stop();
  });

  it('ends with DATA_LOSS when a control cannot be read any more', async () => {
    const agent = await newAgent();
    const control = await seed.control(`damaged-${agent}`);
    await seed.link(agent, control);
    const watcher = watch(agent);
    await until(watcher.names, (names) => names.length === 1);
    await damageControl(writer.databaseUrl, control, '{"condition":');
    await changed('POST', `/api/v1/agents/${agent}/controls/${await seed.control(`sound-${agent}`)}`);
    expect(await codeOf(watcher)).toBe(Code.DataLoss);
    expect(await codeOf(watch(agent))).toBe(Code.DataLoss);
  });

  it('ends at once with UNAVAILABLE when the server shuts down', async () => {
    const agent = await newAgent();
    const stopping = await startService({ DATABASE_URL: writer.databaseUrl, SERVICE_DRAIN_SECONDS: '60' });
    const open = RPC_PROTOCOLS.map((protocol) => watch(agent, { protocol, service: stopping }));
    for (const watcher of open) await until(watcher.revision, (revision) => revision > 0);
    // Waits for streams that would go on: with the 60 seconds of the drain this test would run out of time.
    await stopping.stop();
    for (const watcher of open) expect(await codeOf(watcher)).toBe(Code.Unavailable);
  });
});
