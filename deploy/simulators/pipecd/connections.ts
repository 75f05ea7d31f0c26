/** The client connections of all ports, and the processes that serve them. */
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { ControlPlane } from "./controlplane.ts";
import type { ServerProcess } from "./serverprocess.ts";

/** A client connection and the processes that it has reached. */
interface Connection {
  readonly socket: Socket;
  readonly processes: Map<ControlPlane, ServerProcess>;
}

/** Open connections. Each stays with the process that served its first call, as long as that process runs. */
export class Connections {
  /** By name, because Node does not expose a session's socket for destruction. */
  readonly #open = new Map<string, Connection>();
  readonly #controlPlanes: () => Iterable<ControlPlane>;

  /** `controlPlanes` is evaluated for each connection and each call. */
  constructor(controlPlanes: () => Iterable<ControlPlane>) {
    this.#controlPlanes = controlPlanes;
  }

  /** Records a new connection, or closes it when no control plane is up. */
  accept(socket: Socket): void {
    if (!isAnyUp([...this.#controlPlanes()])) {
      socket.destroy();
      return;
    }
    const name = nameOf(socket);
    this.#open.set(name, { socket, processes: new Map() });
    socket.on("close", () => this.#open.delete(name));
  }

  /** One process of each control plane for a call; undefined when no control plane is up. */
  processesFor(stream: ServerHttp2Stream): readonly ServerProcess[] | undefined {
    const planes = [...this.#controlPlanes()];
    if (!isAnyUp(planes)) return undefined;
    const connection = this.#connectionOf(stream);
    return planes.map((plane) => processOf(plane, connection));
  }

  /**
   * Closes the connection of a call without an HTTP/2 frame. Several control planes of a test share connections, unlike real
   * ones; then only the call ends, with CANCEL, which its caller also sees when a connection closes.
   */
  drop(stream: ServerHttp2Stream, how: "reset" | "ended"): void {
    const socket = this.#connectionOf(stream)?.socket;
    if ([...this.#controlPlanes()].length > 1) stream.close(constants.NGHTTP2_CANCEL);
    else if (how === "reset") socket?.resetAndDestroy();
    else socket?.destroy();
  }

  /** Number of open connections to a port. */
  countOn(port: number): number {
    return [...this.#open.keys()].filter((name) => name.startsWith(`${port} `)).length;
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #connectionOf({ session }: ServerHttp2Stream): Connection | undefined {
    return session && this.#open.get(nameOf(session.socket));
  }
}

const isAnyUp = (planes: readonly ControlPlane[]): boolean => planes.some(({ isUp }) => isUp);

const nameOf = ({ localPort, remotePort }: Pick<Socket, "localPort" | "remotePort">): string =>
  `${localPort} ${remotePort}`;

function processOf(plane: ControlPlane, connection: Connection | undefined): ServerProcess {
  const reached = connection?.processes.get(plane);
  if (reached?.isUp) return reached;
  const { process } = plane;
  connection?.processes.set(plane, process);
  return process;
}
