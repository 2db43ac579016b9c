import { AgentService } from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { rpcError } from '../clients.js';
import { defineCommand } from '../command.js';
import { plain } from '../output.js';

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement watch controls billing-bot-01 --count 1',
      does: 'Print the controls of an agent as they change',
    },
  ],
  positionals: { agent: { type: 'string', demandOption: true, describe: 'Name of the agent' } },
  options: { count: { type: 'number', describe: 'End after so many changes' } },
  async run(context, { agent, count = Number.POSITIVE_INFINITY }) {
    const clients = await context.connect();
    let printed = 0;
    try {
      const stream = (await clients.rpc(AgentService)).watchControls(
        { agentName: agent },
        { signal: context.signal },
      );
      for await (const { revision, news } of stream) {
        if (news.case !== 'full' && news.case !== 'changed') continue;
        const isFull = news.case === 'full';
        const controls = (isFull ? news.value.controls : news.value.upserted).map(({ name }) => name);
        const removed = isFull ? [] : news.value.removed;
        const gone = removed.length === 0 ? '' : `, without ${removed.join(', ')}`;
        const text = `revision ${revision}: ${isFull ? '' : 'changed '}${controls.join(', ') || 'no controls'}${gone}`;
        const value = { revision: Number(revision), kind: news.case, controls, removed };
        const line = context.format === 'table' ? plain(text) : JSON.stringify(value);
        await context.stdout.write(`${line}\n`);
        printed += 1;
        if (printed >= count) return 0;
      }
    } catch (error) {
      if (context.signal.aborted) return 0;
      throw rpcError(clients.connection.server, error);
    }
    return 0;
  },
});
