/** Reads the ConfigMaps and Secrets that are mounted in PipeCD's pods. */
import { ConfigMap, Secret } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";

/** The text of a key of a ConfigMap; empty if the key is missing. */
export const configText = async (
  client: KubeClient,
  namespace: string,
  name: string,
  key: string,
): Promise<string> => (await client.get(ConfigMap, { namespace, name })).data?.[key] ?? "";

/** The bytes of a key of a Secret; empty if the key is missing. */
export const secretBytes = async (
  client: KubeClient,
  namespace: string,
  name: string,
  key: string,
): Promise<Buffer> =>
  Buffer.from((await client.get(Secret, { namespace, name })).data?.[key] ?? "", "base64");
