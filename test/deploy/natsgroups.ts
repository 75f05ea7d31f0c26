/** Stream groups of NATS servers, from a monitoring endpoint. */

/** The servers that replicate a stream. */
export interface Group {
  readonly leader: string;
  readonly replicas?: readonly { readonly name: string }[];
}

/** The number of servers, and the group of each stream. */
export interface Groups {
  readonly size: number;
  readonly streams: readonly { readonly name: string; readonly cluster: Group }[];
}

/** The groups as known to the server with this monitoring endpoint. */
export async function groupsAt(monitorUrl: string): Promise<Groups> {
  const answer = await fetch(`${monitorUrl}/jsz?streams=true&config=true`);
  const { account_details, meta_cluster } = (await answer.json()) as {
    meta_cluster: { cluster_size: number };
    account_details: { stream_detail: Groups["streams"] }[];
  };
  return { size: meta_cluster.cluster_size, streams: account_details.flatMap((one) => one.stream_detail) };
}
