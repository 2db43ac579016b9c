export { type GatewayConfig, GatewayConfigError, readGatewayConfig } from './config.js';
export { ERROR_CODES, type Log } from './errors.js';
export { type Gateway, type GatewayOptions, startGateway } from './gateway.js';
export { approvePins, type Pin, type PinTable, readPins } from './pins.js';
