/** Headers of messages that anybody may have written. */
import type { Msg, MsgHdrs } from "@nats-io/transport-node";

/**
 * The headers of a message; undefined where there are some that the client library refuses to read. It does so by
 * throwing, and what throws where messages arrive ends the reading of the whole connection.
 */
export function readableHeaders(message: Msg): MsgHdrs | undefined {
  try {
    return message.headers;
  } catch {
    return undefined;
  }
}
