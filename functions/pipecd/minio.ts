/** Minio: the filestore of a control plane. */
import { Minio } from "./kinds.ts";
import { secretKeys } from "./names.ts";
import { storeImage } from "./profile.ts";
import { storeFunction } from "./stores/storefunction.ts";

const port = 9000;

export default storeFunction({
  name: "pipecd-minio",
  kind: Minio,
  component: "minio",
  secretKeys: [secretKeys.minioAccessKey, secretKeys.minioSecretKey],
  program({ spec }) {
    const from = (name: string, key: string) => ({
      name,
      valueFrom: { secretKeyRef: { name: spec.secret.secretName, key } },
    });
    return {
      image: storeImage("minio", spec.version),
      args: ["server", "/data"],
      // Versions up to 2021 read the first two, later ones the others.
      env: [
        from("MINIO_ACCESS_KEY", secretKeys.minioAccessKey),
        from("MINIO_SECRET_KEY", secretKeys.minioSecretKey),
        from("MINIO_ROOT_USER", secretKeys.minioAccessKey),
        from("MINIO_ROOT_PASSWORD", secretKeys.minioSecretKey),
      ],
      port,
      dataPath: "/data",
      readinessProbe: { httpGet: { path: "/minio/health/ready", port } },
    };
  },
});
