import { openedInTest } from '../support/opened.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';

/** Runs the built service with the words of a command, in processes that are gone after the test. */
export function serviceCommands() {
  const processes = openedInTest<ServiceProcess>((one) => one.dispose());
  return async (environment: Record<string, string>, ...words: string[]): Promise<ServiceProcess> => {
    const one = await spawnService(compiled, { environment, arguments: words });
    processes.push(one);
    return one;
  };
}
