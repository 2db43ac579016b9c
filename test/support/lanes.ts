/** Settings that switch every lane of evaluations on or off. */
export function lanes(value: string | boolean): Record<string, string> {
  const switched = String(value);
  return { SERVICE_GRPC_LANE: switched, SERVICE_REST_LANE: switched, SERVICE_WEB_LANE: switched };
}
