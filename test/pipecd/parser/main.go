// Reads PipeCD configurations as its own programs do, without connecting to anything. Each line of standard input is a
// JSON request, and each line of standard output is its answer.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/pipe-cd/pipecd/pkg/app/piped/notifier"
	"github.com/pipe-cd/pipecd/pkg/config"
	configv1 "github.com/pipe-cd/pipecd/pkg/configv1"
	"github.com/pipe-cd/pipecd/pkg/datastore/mysql"
	"github.com/pipe-cd/pipecd/pkg/datastore/mysql/ensurer"
	"github.com/pipe-cd/pipecd/pkg/filestore/minio"
	"github.com/pipe-cd/pipecd/pkg/model"
	"github.com/robfig/cron/v3"
	"go.mongodb.org/mongo-driver/x/mongo/driver/connstring"
	"go.uber.org/zap"
	"sigs.k8s.io/yaml"
)

// request is a configuration file, possibly of a v1 piped, or a MongoDB URL.
type request struct {
	Text    string `json:"text"`
	V1      bool   `json:"v1"`
	MongoDB string `json:"mongodb"`
}

// answer is the start error of a program, and the configuration it has read.
type answer struct {
	Problem string          `json:"problem,omitempty"`
	Read    json.RawMessage `json:"read,omitempty"`
}

// files replaces the files that a configuration names.
var files string

func main() {
	folder, err := os.MkdirTemp("", "pipecd-parser")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	files = filepath.Join(folder, "file")
	if err := os.WriteFile(files, []byte("secret"), 0o600); err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		out.Encode(check(asked))
	}
}

func check(asked request) (found answer) {
	defer func() {
		if reason := recover(); reason != nil {
			found.Problem = fmt.Sprintf("panic: %v", reason)
		}
	}()
	if asked.MongoDB != "" {
		_, err := connstring.Parse(asked.MongoDB)
		return problem(err)
	}
	read, err := yaml.YAMLToJSON([]byte(asked.Text))
	if err != nil {
		return problem(err)
	}
	found = answer{Read: read}
	begin := start
	if asked.V1 {
		begin = startV1
	}
	if err := begin(asked.Text); err != nil {
		found.Problem = err.Error()
	}
	return found
}

func problem(err error) answer {
	if err == nil {
		return answer{}
	}
	return answer{Problem: err.Error()}
}

func start(text string) error {
	c, err := config.DecodeYAML([]byte(text))
	if err != nil {
		return err
	}
	switch c.Kind {
	case config.KindControlPlane:
		return errors.Join(datastore(c.ControlPlaneSpec), filestore(c.ControlPlaneSpec), collector(c.ControlPlaneSpec), logins(c.ControlPlaneSpec))
	case config.KindPiped:
		return piped(c.PipedSpec)
	}
	return fmt.Errorf("unexpected kind %s", c.Kind)
}

func startV1(text string) error {
	c, err := configv1.DecodeYAML[*configv1.PipedSpec]([]byte(text))
	if err != nil {
		return err
	}
	for _, plugin := range c.Spec.Plugins {
		if err := plugin.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// file is an existing file if one is needed.
func file(path string) string {
	if path == "" {
		return ""
	}
	return files
}

// datastore is opened by server and ops, and a second time by ops to create the tables.
func datastore(c *config.ControlPlaneSpec) error {
	switch d := c.Datastore; d.Type {
	case model.DataStoreFirestore:
		return nil
	case model.DataStoreMySQL:
		m := d.MySQLConfig
		user, password := file(m.UsernameFile), file(m.PasswordFile)
		var options []mysql.Option
		if user != "" || password != "" {
			options = append(options, mysql.WithAuthenticationFile(user, password))
		}
		if _, err := mysql.NewMySQL(m.URL, m.Database, options...); err != nil {
			return fmt.Errorf("server: %w", err)
		}
		if _, err := ensurer.NewMySQLEnsurer(m.URL, m.Database, user, password, zap.NewNop()); err != nil {
			return fmt.Errorf("ops: %w", err)
		}
		return nil
	default:
		return fmt.Errorf("unknown datastore type %q", d.Type)
	}
}

func filestore(c *config.ControlPlaneSpec) error {
	switch f := c.Filestore; f.Type {
	case model.FileStoreGCS, model.FileStoreS3:
		return nil
	case model.FileStoreMINIO:
		m := f.MinioConfig
		if _, err := minio.NewStore(m.Endpoint, m.Bucket, files, files); err != nil {
			return err
		}
		if m.AutoCreateBucket {
			return s3utils.CheckValidBucketName(m.Bucket)
		}
		return nil
	default:
		return fmt.Errorf("unknown filestore type %q", f.Type)
	}
}

func collector(c *config.ControlPlaneSpec) error {
	i := c.InsightCollector
	if *i.Application.Enabled {
		if _, err := cron.ParseStandard(i.Application.Schedule); err != nil {
			return err
		}
	}
	if *i.Deployment.Enabled {
		if _, err := cron.ParseStandard(i.Deployment.Schedule); err != nil {
			return err
		}
	}
	return nil
}

// logins are only used when a user logs in. OIDC contacts its provider, so it is skipped.
func logins(c *config.ControlPlaneSpec) error {
	for _, sso := range c.SharedSSOConfigs {
		if sso.Provider == model.ProjectSSOConfig_OIDC {
			continue
		}
		if _, err := sso.GenerateAuthCodeURL("project", "https://example.com/auth/callback", "state"); err != nil {
			return fmt.Errorf("login %s: %w", sso.Name, err)
		}
	}
	return nil
}

func piped(c *config.PipedSpec) error {
	if c.Git.SSHKeyData != "" {
		if _, err := c.Git.LoadSSHKey(); err != nil {
			return err
		}
	}
	if _, err := c.Git.DecodedPassword(); err != nil {
		return err
	}
	for i := range c.Notifications.Receivers {
		if slack := c.Notifications.Receivers[i].Slack; slack != nil {
			slack.OAuthTokenFile = file(slack.OAuthTokenFile)
		}
	}
	if _, err := notifier.NewNotifier(c, zap.NewNop()); err != nil {
		return err
	}
	if s := c.SecretManagement; s != nil {
		if s.Type != model.SecretManagementTypeKeyPair {
			return fmt.Errorf("type %q is not implemented yet", s.Type)
		}
		if s.KeyPair.PrivateKeyData != "" {
			if _, err := s.KeyPair.LoadPrivateKey(); err != nil {
				return err
			}
		}
	}
	for _, interval := range []config.Duration{c.SyncInterval, c.AppConfigSyncInterval} {
		if interval <= 0 {
			return fmt.Errorf("non-positive interval for NewTicker")
		}
	}
	for _, p := range c.PlatformProviders {
		if p.LambdaConfig != nil && p.LambdaConfig.AwsAPIPollingInterval <= 0 {
			return fmt.Errorf("non-positive interval for NewTicker")
		}
	}
	return nil
}
