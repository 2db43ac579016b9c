/**
 * Settings of the services of tests: a busy machine is no matter of those that do not ask for it. Neither does a service
 * turn calls away because it is late, nor does a call end because something that it waits for takes its time.
 */
export const PATIENT_SETTINGS: Readonly<Record<string, string>> = {
  SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0',
  SERVICE_REQUEST_TIMEOUT_SECONDS: '600',
  SERVICE_MIN_REVISION_WAIT_SECONDS: '60',
  SERVICE_MEMORY_TIMEOUT_SECONDS: '60',
  EVALUATOR_TIMEOUT_SECONDS: '300',
};
