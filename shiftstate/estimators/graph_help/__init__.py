"""Does the graph help? A model beside others without the graph, with intervals."""
