/** Reads the headers of messages from any client. */
import type { Msg, MsgHdrs } from "@nats-io/transport-node";

/**
 * The headers of a message; undefined if the client library cannot parse them. Then the library throws, and an exception in a
 * message callback would end all reads from the connection.
 */
export function readableHeaders(message: Msg): MsgHdrs | undefined {
  try {
    return message.headers;
  } catch {
    return undefined;
  }
}
