/** Validates endpoints and buckets like MinIO's client: https://github.com/minio/minio-go */
import { addressIn } from "./gourl.ts";

const expected = "expected an address with a scheme, such as http://minio-sample-minio:9000";

/** Why an endpoint is invalid; undefined if it is valid. PipeCD uses only its scheme, host, and port. */
export function endpointProblem(text: string): string | undefined {
  const address = addressIn(text);
  if (address === undefined) return `${expected}, found "${text}"`;
  const { host, port } = address;
  if (Number(port) > 65_535) return `expected a port of at most 65535, found ${port}`;
  if (host.startsWith("[")) return port ? undefined : `expected a port after ${host}`;
  const isHost = /^(?![-_.])(?!.*[-_]$)[^\s`~!@#$%^&*()+={}|\\"';><]{1,255}$/.test(host);
  const isOfCloud =
    /\.s3\.amazonaws\.com/.test(host) ||
    (/\.googleapis\.com/.test(host) && host !== "storage.googleapis.com");
  if (isOfCloud) return `expected the address without the bucket, found "${host}"`;
  return isHost ? undefined : `expected a host name or an IP address, found "${host}"`;
}

/** Why a bucket name is invalid; undefined if it is valid. */
export function bucketProblem(name: string): string | undefined {
  const fits = /^[A-Za-z0-9][A-Za-z0-9._:-]{1,61}[A-Za-z0-9]$/.test(name);
  if (fits && !/\.\.|\.-|-\.|^(\d+\.){3}\d+$/.test(name)) return undefined;
  return `expected 3 to 63 letters, digits, hyphens, and dots, found "${name}"`;
}
