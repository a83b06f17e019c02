"""A loader whose threads are in a process of their own: ``Loader(…, process=True)``.

The process makes batches straight into memory that both processes have mapped. What else is known of a batch, and each
request, is a message on a socket. The memory has no name and the socket ends with either process, so nothing is left behind.
"""
