import { member } from './asking.js';

/** A server of either SDK. */
export interface Registering {
  // biome-ignore lint/suspicious/noExplicitAny: the callbacks of both SDKs, whatever their arguments.
  registerTool(name: string, config: never, callback: any): unknown;
}

type Callback = (...args: readonly unknown[]) => unknown;
type Guard = (name: string, callback: Callback) => Callback;
type Method = (...args: readonly unknown[]) => unknown;

/** Guards all tools of a server: those that are registered from now on, and what their callbacks are changed to. */
export function guardServer<Server extends Registering>(guard: Guard, server: Server): Server {
  if (Object.keys(member(server, '_registeredTools') ?? {}).length > 0)
    throw new Error(
      'The server has tools already, which would run unchecked: guard it before tools are registered.',
    );

  const registering =
    (method: Method): Method =>
    (...args) => {
      const name = String(args[0]);
      // The callback is the last argument, in every form of these methods.
      const registered = method.apply(server, [...args.slice(0, -1), guard(name, args.at(-1) as Callback)]);
      return guardUpdates(guard, name, registered);
    };
  const methods: Record<string, unknown> = { registerTool: registering(server.registerTool as Method) };
  // The SDK `@modelcontextprotocol/sdk` has an older way as well, and one for tools that run as tasks.
  const older: unknown = Reflect.get(server, 'tool');
  if (typeof older === 'function') methods.tool = registering(older as Method);
  const tasks = member(Reflect.get(server, 'experimental'), 'tasks');
  if (typeof tasks === 'object' && tasks !== null)
    Object.assign(tasks, {
      registerToolTask(name: string) {
        throw new Error(
          `The tool "${name}" cannot be checked, because it runs as a task: register it with registerTool.`,
        );
      },
    });
  return Object.assign(server, methods);
}

/** What is registered, whose later callbacks are guarded as well. */
function guardUpdates(guard: Guard, name: string, registered: unknown): unknown {
  const update = member(registered, 'update');
  if (typeof update !== 'function') return registered;
  let current = name;
  return Object.assign(registered as object, {
    update(updates: { readonly name?: string | null; readonly callback?: Callback }) {
      current = updates.name ?? current;
      const callback = updates.callback && guard(current, updates.callback);
      return update.call(registered, callback === undefined ? updates : { ...updates, callback });
    },
  });
}
