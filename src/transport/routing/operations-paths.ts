/** Paths of the operational routes, with their methods. */
export const OPERATIONS_PATHS = [
  { template: '/health', methods: ['GET'] },
  { template: '/ready', methods: ['GET'] },
  { template: '/metrics', methods: ['GET', 'HEAD'] },
] as const;
