/** A running PostgreSQL server whose data are thrown away. */
export interface PostgresServer {
  /** Connection URL of its maintenance database, as a superuser. */
  readonly url: string;
  /** Folder of its files. */
  readonly dataFolder: string;
  /** Stops the server in order (`-m fast`), keeping data and port. */
  pause(): Promise<void>;
  /** Ends the server at once (`-m immediate`), keeping data and port. */
  crash(): Promise<void>;
  /** Starts a stopped server again, on the same port. */
  resume(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** True when what is committed has to be there after `crash()`. */
  readonly survivesCrash?: boolean;
}

export function startPostgresServer(options?: PostgresServerOptions): Promise<PostgresServer>;

/** A port of this machine that nothing uses, and that no outgoing connection gets. */
export function freePort(): Promise<number>;
