/** What MinIO's client takes for an endpoint and a bucket: https://github.com/minio/minio-go */
import { addressIn } from "./gourl.ts";

const expected = "expected an address with its scheme, such as http://minio-sample-minio:9000";

/** Why an endpoint cannot be used; undefined where it can. PipeCD takes of it the scheme, the host and the port alone. */
export function endpointProblem(text: string): string | undefined {
  const address = addressIn(text);
  if (address === undefined) return `${expected}, found "${text}"`;
  const { host, port } = address;
  if (Number(port) > 65_535) return `expected a port of at most 65535, found ${port}`;
  if (host.startsWith("[")) return port ? undefined : `expected a port behind ${host}`;
  const isHost = /^(?![-_.])(?!.*[-_]$)[^\s`~!@#$%^&*()+={}|\\"';><]{1,255}$/.test(host);
  const isOfCloud =
    /\.s3\.amazonaws\.com/.test(host) ||
    (/\.googleapis\.com/.test(host) && host !== "storage.googleapis.com");
  if (isOfCloud) return `expected the address without the bucket, found "${host}"`;
  return isHost ? undefined : `expected the name or the IP address of a host, found "${host}"`;
}

/** Why a bucket cannot be used; undefined where it can. */
export function bucketProblem(name: string): string | undefined {
  const fits = /^[A-Za-z0-9][A-Za-z0-9._:-]{1,61}[A-Za-z0-9]$/.test(name);
  if (fits && !/\.\.|\.-|-\.|^(\d+\.){3}\d+$/.test(name)) return undefined;
  return `expected 3 to 63 letters, digits, hyphens and dots, found "${name}"`;
}
