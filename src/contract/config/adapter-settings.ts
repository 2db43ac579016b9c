import { ADAPTER_NAMES, type AdapterName, isAdapterName } from './adapter-names.js';
import { converted, listWhere, type Reader, TEXT } from './config-readers.js';
import { setting } from './setting.js';

const NAMES: Reader<readonly AdapterName[]> = converted(
  listWhere(isAdapterName, `names of adapters, separated by commas: ${ADAPTER_NAMES.join(', ')}`, 'authzen'),
  (entries) => entries.filter(isAdapterName),
);

/** Adapters: protocols of others by which steps are evaluated. */
export const ADAPTERS = {
  adapters: {
    on: setting('SERVICE_ADAPTERS', '', NAMES).help(
      `Adapters that are served, separated by commas: ${ADAPTER_NAMES.join(', ')}. Calls to others are refused.`,
    ),
    file: setting('SERVICE_ADAPTERS_FILE', null, TEXT).help(
      'File (YAML or JSON) that says, for each adapter, which header or member names the agent, the session and the step; docs/adapters/README.md describes it. Without it, each adapter takes them from where its page says.',
    ),
    failOpen: setting('SERVICE_ADAPTERS_FAIL_OPEN', '', NAMES).help(
      'Adapters that let steps pass when they cannot be evaluated, because the service has no current controls or its time is up, separated by commas. Each such step is counted and warned about. By default no step passes without an evaluation.',
    ),
  },
};
