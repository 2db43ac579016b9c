import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  ControlService,
  type ListControlsRequest,
} from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { BadRequestSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';

type Filters = Partial<Pick<ListControlsRequest, 'stage' | 'execution' | 'stageFilter' | 'executionFilter'>>;

describeService('filters of lists of controls', ({ call, seed, service }) => {
  beforeAll(async () => {
    await seed.control('before', denyWord('x', { scope: { stages: ['pre'] } }));
    await seed.control('after', denyWord('x', { scope: { stages: ['post'] }, execution: 'sdk' }));
    await seed.control('always');
  });

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    const list = async (filters: Filters): Promise<string[]> => {
      const client = createClient(ControlService, rpcTransport(protocol, service.url));
      const { controls } = await client.listControls(filters);
      return controls.map(({ name }) => name).sort();
    };

    it.each<[Filters, string[]]>([
      [{ stage: 'pre' }, ['always', 'before']],
      [{ stageFilter: Stage.PRE }, ['always', 'before']],
      [{ stageFilter: Stage.POST }, ['after', 'always']],
      [{ stageFilter: Stage.UNSPECIFIED }, ['after', 'always', 'before']],
      [{ stage: 'post', stageFilter: Stage.POST }, ['after', 'always']],
      [{ execution: 'sdk' }, ['after']],
      [{ executionFilter: Execution.SDK }, ['after']],
      [{ executionFilter: Execution.SERVER, stageFilter: Stage.PRE }, ['always', 'before']],
      [{ execution: 'server', executionFilter: Execution.SERVER }, ['always', 'before']],
    ])('%j selects %j', async (filters, names) => {
      expect(await list(filters)).toEqual(names);
    });

    it.each<[Filters, string, string]>([
      [{ stage: 'STAGE_PRE' }, 'stage', 'pre, post'],
      [{ stage: '' }, 'stage', 'pre, post'],
      [{ stage: 'Pre' }, 'stage', 'pre, post'],
      [{ execution: 'bogus' }, 'execution', 'server, sdk'],
      [{ execution: 'EXECUTION_SDK' }, 'execution', 'server, sdk'],
      [{ stage: 'pre', stageFilter: Stage.POST }, 'stage_filter', 'differs from stage'],
      [{ execution: 'sdk', executionFilter: Execution.SERVER }, 'execution_filter', 'differs from execution'],
      [{ stageFilter: 7 as Stage }, 'stage_filter', 'pre, post'],
      [{ executionFilter: 9 as Execution }, 'execution_filter', 'server, sdk'],
    ])('%j is refused', async (filters, field, message) => {
      const error = await list(filters).then(
        () => null,
        (reason: unknown) => ConnectError.from(reason),
      );
      expect(error?.code).toBe(Code.InvalidArgument);
      const [violation] = error?.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
      expect(violation?.field).toBe(field);
      expect(violation?.description).toContain(message);
    });
  });

  describe('over REST', () => {
    const list = (query: string) => call('GET', `/api/v1/controls?${query}`);

    it.each([
      ['stage=pre', ['always', 'before']],
      ['execution=sdk', ['after']],
      ['stage_filter=post', ['after', 'always']],
      ['execution_filter=server', ['always', 'before']],
      ['stage=pre&stage_filter=pre', ['always', 'before']],
    ])('%s selects %j, without a warning', async (query, names) => {
      const reply = await list(query);
      expect((reply.body.controls as { name: string }[]).map(({ name }) => name).sort()).toEqual(names);
      expect(reply.headers.get('x-service-warning')).toBeNull();
    });

    it.each([
      ['stage=STAGE_PRE', ['always'], 'stage: must be one of: pre, post'],
      ['stage=', ['always'], 'stage: must be one of: pre, post'],
      ['execution=bogus', [], 'execution: must be one of: server, sdk'],
      ['execution=', [], 'execution: must be one of: server, sdk'],
    ])('%s selects %j as it always has, with a warning', async (query, names, warning) => {
      const reply = await list(query);
      expect(reply.status).toBe(200);
      expect((reply.body.controls as { name: string }[]).map(({ name }) => name)).toEqual(names);
      expect(reply.headers.get('x-service-warning')).toBe(warning);
    });

    it.each([
      ['stage_filter=STAGE_PRE', 'query.stage_filter'],
      ['execution_filter=bogus', 'query.execution_filter'],
      ['execution=sdk&execution_filter=server', 'execution_filter'],
    ])('%s is refused', async (query, field) => {
      const reply = await list(query);
      expect(reply.status).toBe(422);
      expect(reply.body.errors).toMatchObject([{ field }]);
    });
  });
});
