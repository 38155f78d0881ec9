# OpenBao for one host, beside the server: see compose.yaml.
storage "raft" {
  path    = "/openbao/file"
  node_id = "vault"
}

api_addr     = "http://127.0.0.1:8200"
cluster_addr = "http://127.0.0.1:8201"

listener "tcp" {
  address     = "127.0.0.1:8200"
  tls_disable = true
}

# OpenBao unseals itself with this key. Keep it apart from the volume.
seal "static" {
  current_key_id = "1"
  current_key    = "env://VAULT_SEAL_KEY"
}

# The engine that the server needs, created once, and a token with only the necessary permissions.
initialize "tessera" {
  request "mount" {
    operation = "update"
    path      = "sys/mounts/secret"
    data = {
      type    = "kv"
      options = { version = "2" }
    }
  }

  request "policy" {
    operation = "update"
    path      = "sys/policies/acl/tessera"
    data = {
      policy = <<EOT
path "secret/data/claude-memory/*" { capabilities = ["create", "read", "update"] }
path "secret/metadata/claude-memory/*" { capabilities = ["delete"] }
EOT
    }
  }

  request "token" {
    operation = "update"
    path      = "auth/token/create"
    data = {
      id = {
        eval_type   = "string"
        eval_source = "env"
        env_var     = "VAULT_TOKEN"
      }
      policies  = ["tessera"]
      period    = "768h"
      no_parent = true
    }
  }
}
