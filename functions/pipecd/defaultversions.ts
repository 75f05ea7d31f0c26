/** Versions of programs other than PipeCD. Pure: the dashboard's page uses it, too. */

/** Default image tags. */
export const defaultVersions = {
  envoy: { L0: "v1.10.0", C: "v1.31.0" },
  redis: "5.0.5-alpine3.9",
  minio: "RELEASE.2020-08-26T00-00-49Z",
  mongo: "4.2",
  mysql: "8.0.33",
} as const;
