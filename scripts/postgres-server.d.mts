/** A running PostgreSQL server whose data are thrown away. */
export interface PostgresServer {
  /** Connection URL of its maintenance database, as a superuser. */
  readonly url: string;
  /** Stops the server, keeping data and port. */
  pause(): Promise<void>;
  /** Starts a paused server again, on the same port. */
  resume(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export function startPostgresServer(): Promise<PostgresServer>;
