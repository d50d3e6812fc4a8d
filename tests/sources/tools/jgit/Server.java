// JGit's servers for the repositories below a folder: plain HTTP (a test puts TLS in front) and SSH, each on a port of
// loopback that the system chooses. Prints one line: the two ports and the SSH host key. Ends with its standard input.

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.git.GitLocationResolver;
import org.apache.sshd.git.pack.GitPackCommandFactory;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.auth.pubkey.AcceptAllPublickeyAuthenticator;
import org.apache.sshd.server.keyprovider.SimpleGeneratorHostKeyProvider;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jgit.http.server.GitServlet;

public class Server {
    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]);

        var http = new org.eclipse.jetty.server.Server(new InetSocketAddress("127.0.0.1", 0));
        var context = new ServletContextHandler();
        var holder = new ServletHolder(new GitServlet());
        holder.setInitParameter("base-path", root.toString());
        holder.setInitParameter("export-all", "true");
        context.addServlet(holder, "/*");
        http.setHandler(context);
        http.start();

        var ssh = SshServer.setUpDefaultServer();
        ssh.setHost("127.0.0.1");
        ssh.setPort(0);
        var keys = new SimpleGeneratorHostKeyProvider();
        keys.setAlgorithm("EC");
        keys.setKeySize(256);
        ssh.setKeyPairProvider(keys);
        ssh.setPublickeyAuthenticator(AcceptAllPublickeyAuthenticator.INSTANCE);
        ssh.setCommandFactory(
            new GitPackCommandFactory().withGitLocationResolver(GitLocationResolver.constantPath(root)));
        ssh.start();

        int port = ((ServerConnector) http.getConnectors()[0]).getLocalPort();
        var key = keys.loadKeys(null).iterator().next().getPublic();
        System.out.println("listening " + port + " " + ssh.getPort() + " " + PublicKeyEntry.toString(key));

        while (System.in.read() >= 0) {
            // Nothing is said; the end of the input is the end of the test.
        }
        System.exit(0);
    }
}
