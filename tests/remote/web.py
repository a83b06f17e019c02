"""nginx, as tests and benchmarks run it."""
import os
import shutil

NGINX = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  default_type application/octet-stream;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=4096{tls}; root "{files}"; }}
}}
"""


def nginx_command(folder, files, port, certificate=None):
    """The command that serves `files` by one process of nginx, with its own files in `folder`. With the files of a
    `certificate` and its key, it serves over TLS."""
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if nginx is None:
        raise FileNotFoundError("nginx is not installed: see scripts/servers.sh")
    configuration = folder / "nginx.conf"
    tls = ' ssl; ssl_certificate "{}"; ssl_certificate_key "{}"'.format(*certificate) if certificate else ""
    configuration.write_text(NGINX.format(folder=folder, files=files, port=port, tls=tls))
    return [nginx, "-e", "stderr", "-p", folder, "-c", configuration]
